; A region that is looked up, and that nothing but its branch uses.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define i32 @region(i8 %x) {
  %mixed = xor i8 %x, 90
  %sum = add i8 %mixed, 3
  %same = icmp eq i8 %sum, 7
  br i1 %same, label %yes, label %no
yes:
  ret i32 1
no:
  ret i32 2
}
