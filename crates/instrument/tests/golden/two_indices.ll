; Each index has its bounds, wherever the array is; an array at the end of a struct has none.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%record = type { i32, [3 x [8 x i32]], [4 x i32] }

define void @two_indices(ptr %p, i64 %i, i64 %j) {
  %record = getelementptr inbounds %record, ptr %p, i64 %i
  %rows = getelementptr inbounds %record, ptr %record, i32 0, i32 1
  %row = getelementptr inbounds [3 x [8 x i32]], ptr %rows, i64 0, i64 %i
  %cell = getelementptr inbounds [8 x i32], ptr %row, i64 0, i64 %j
  store i32 1, ptr %cell
  %last = getelementptr inbounds %record, ptr %record, i32 0, i32 2
  %place = getelementptr inbounds [4 x i32], ptr %last, i64 0, i64 %j
  store i32 1, ptr %place
  ret void
}
