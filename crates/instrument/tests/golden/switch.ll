; A switch with three cases.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

define i32 @switch(i32 %x) {
  switch i32 %x, label %other [
    i32 1, label %one
    i32 5, label %five
    i32 9, label %nine
  ]
one:
  ret i32 10
five:
  ret i32 50
nine:
  ret i32 90
other:
  ret i32 0
}
