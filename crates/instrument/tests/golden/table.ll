; A region that ends with a load from a table.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@squares = constant [16 x i8] c"\00\01\04\09\10\19$1@Qdy\90\A9\C4\E1"

define i8 @table(i8 %x) {
  %low = and i8 %x, 15
  %index = zext i8 %low to i64
  %place = getelementptr inbounds [16 x i8], ptr @squares, i64 0, i64 %index
  %square = load i8, ptr %place
  ret i8 %square
}
