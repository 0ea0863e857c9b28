; An array inside of a struct has bounds of its own.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%record = type { i32, [8 x i32], i32 }

define i32 @array_in_struct(ptr %p, i64 %i) {
  %array = getelementptr inbounds %record, ptr %p, i32 0, i32 1
  %place = getelementptr inbounds [8 x i32], ptr %array, i64 0, i64 %i
  %x = load i32, ptr %place
  ret i32 %x
}
