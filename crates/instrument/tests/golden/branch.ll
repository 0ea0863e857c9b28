; A branch on a comparison, which is not worth a lookup.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define i32 @branch(i32 %x) {
  %small = icmp slt i32 %x, 7
  br i1 %small, label %yes, label %no
yes:
  ret i32 1
no:
  ret i32 2
}
