; A region with two operands that is looked up, and whose result is used after it.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define i32 @region_of_two(i32 %x, i32 %y) {
  %sum = add i32 %x, %y
  %mixed = xor i32 %sum, 90
  ret i32 %mixed
}
