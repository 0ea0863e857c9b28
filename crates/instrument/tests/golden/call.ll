; Calls of an instrumented function, of one with a model and of one without.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare i64 @strlen(ptr)
declare i32 @unknown(i32)

define i32 @callee(i32 %x) {
  ret i32 %x
}

define i64 @call(i32 %x, ptr %text) {
  %a = call i32 @callee(i32 %x)
  %b = call i32 @unknown(i32 %a)
  %c = call i64 @strlen(ptr %text)
  %d = zext i32 %b to i64
  %e = add i64 %c, %d
  ret i64 %e
}
