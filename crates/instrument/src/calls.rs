//! Calls: labels of arguments and results, variadic functions, structs by value, and a function's
//! own entry.

use crate::function::{Function, Program};
use crate::llvm::{self, Block, LLVMIntPredicate, LLVMOpcode, LLVMTypeKind, Type, Value};
use crate::types;
use crate::{attributes, entry, formats, opaque, outside, runtime};
use inkwell::llvm_sys::core::*;
use trace::{ConcretiseReason, GiveUp, slots};

/// Functions from which symbolic data does not come back into the program: output and the program's
/// end.
const ENDS_OF_DATA: [&str; 26] = [
    "_exit",
    "exit",
    "quick_exit",
    "abort",
    "__assert_fail",
    "perror",
    "printf",
    "fprintf",
    "vprintf",
    "vfprintf",
    "dprintf",
    "puts",
    "fputs",
    "fputc",
    "putc",
    "putchar",
    "fputs_unlocked",
    "fputc_unlocked",
    "putc_unlocked",
    "putchar_unlocked",
    "fwrite",
    "fwrite_unlocked",
    "write",
    "syslog",
    "__printf_chk",
    "__fprintf_chk",
];

/// `operator new` and `operator new[]`, in all their forms. They may throw, so that no model stands
/// in for them.
const NEW: [&str; 2] = ["_Znwm", "_Znam"];
/// `operator delete` and `operator delete[]`.
const DELETE: [&str; 2] = ["_ZdlPv", "_ZdaPv"];

fn is_one_of(name: &str, operators: [&str; 2]) -> bool {
    operators.iter().any(|operator| name.starts_with(operator))
}

/// What a call reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Callee {
    /// A function of the program, or a model: it takes and sends labels.
    Labelled,
    Model,
    /// A function that knows nothing of labels.
    External,
    /// Of Tarragon, between the program and its surroundings: it looks at data without a trace.
    Own,
    InlineAssembly,
    /// Through a pointer.
    Unknown,
}

impl Function<'_> {
    fn callee(&self, call: Value) -> Callee {
        let called = llvm::called(call);
        if llvm::is_inline_asm(called) {
            return Callee::InlineAssembly;
        }
        match llvm::as_function(called) {
            Some(function) if self.program.instrumented.contains(&function) => Callee::Labelled,
            Some(function) if self.program.runtime.is_model(function) => Callee::Model,
            Some(function) if surrounds(function) => Callee::Own,
            Some(_) => Callee::External,
            None => Callee::Unknown,
        }
    }

    pub fn call_may_be_symbolic(&self, call: Value) -> bool {
        if let Some(name) = crate::intrinsics::intrinsic_name(call) {
            return crate::intrinsics::is_followed(&name)
                && crate::function::operands(call).any(|operand| self.may_be_symbolic(operand));
        }
        match self.callee(call) {
            Callee::External => self.printed_may_be_symbolic(call),
            Callee::InlineAssembly | Callee::Own => false,
            _ => true,
        }
    }

    pub fn call_instruction(&mut self, call: Value) {
        if let Some(name) = crate::intrinsics::intrinsic_name(call) {
            return self.intrinsic(call, &name);
        }
        let arguments: Vec<Value> =
            (0..llvm::argument_count(call)).map(|i| llvm::operand(call, i)).collect();
        let callee = self.callee(call);
        self.check_format(call, &arguments);
        let hashed = self.sample(call, callee, &arguments);
        let (mut enters_kernel, mut followed) = (false, None);
        if callee == Callee::External && llvm::is_must_tail(call) {
            self.builder().before(call);
            self.clear_results(call);
        }
        match callee {
            Callee::InlineAssembly => {
                self.drop_labels(call, &arguments, GiveUp::InlineAssembly);
                self.drop_memory(call, &arguments);
                enters_kernel = self.watch_assembly(call);
            }
            Callee::External => self.call_external(call, &arguments),
            Callee::Own => {}
            _ => followed = self.send_arguments(call, callee, &arguments),
        }
        let sends = !matches!(callee, Callee::External | Callee::Own | Callee::InlineAssembly);
        self.after_call(call, callee, sends, followed);
        if let Some(at) = after(call).filter(|_| enters_kernel) {
            self.builder().before(at);
            self.watch_assembly_end();
        }
        if let Some((function, len)) = hashed.filter(|_| callee == Callee::Labelled) {
            let label = self.call(entry::__tg_hashed, [function, self.label_of(call), len]);
            self.set_labels(call, vec![label]);
        }
    }

    /// What a hash is asked about can be a word that the solver would not find. Returns the
    /// function's number and the length of the word, 0 if it is of no interest.
    fn sample(
        &mut self,
        call: Value,
        callee: Callee,
        arguments: &[Value],
    ) -> Option<(Value, Value)> {
        let function = llvm::as_function(llvm::called(call))?;
        let name = llvm::name(function);
        let wanted = match callee {
            Callee::External => {
                opaque::is_asked(function) && !ENDS_OF_DATA.contains(&name.as_str())
            }
            Callee::Labelled => self.program.hashes.contains(&name),
            _ => false,
        };
        let (text, len) = opaque::text_parameter(llvm::value_type(function)).filter(|_| wanted)?;
        let number = self.numbering.external(&name);
        let site = self.site(call);
        let builder = self.builder();
        builder.before(call);
        let len = len.and_then(|len| arguments.get(len as usize));
        let len =
            len.map_or(builder.const_i64(u64::MAX), |len| builder.zext_or_trunc(*len, builder.i64));
        let &text = arguments.get(text as usize)?;
        let number = builder.const_i32(number);
        Some((number, self.call(entry::__tg_sample, [number, text, len, site])))
    }

    /// A format that is no constant could be the input.
    fn check_format(&mut self, call: Value, arguments: &[Value]) {
        let Some(function) = llvm::as_function(llvm::called(call)) else { return };
        let name = llvm::name(function);
        let format = formats::position(runtime::modelled(&name).unwrap_or(&name));
        let Some(&format) = format.and_then(|position| arguments.get(position as usize)) else {
            return;
        };
        if !llvm::is_constant(format) {
            let site = self.site(call);
            self.builder().before(call);
            self.call(entry::__tg_format, [format, site]);
        }
    }

    fn call_external(&mut self, call: Value, arguments: &[Value]) {
        let name = llvm::name(llvm::called(call));
        let comes_back = self.program.reads_status && EXITS.contains(&name.as_str());
        if ends_data(call, &name) && !comes_back {
            return self.watch_output(call, &name, arguments);
        }
        if let Some(&first) = arguments.first() {
            if is_one_of(&name, NEW) {
                return self.call_new(call, first);
            }
            if is_one_of(&name, DELETE) {
                self.builder().before(call);
                self.call(entry::__tg_deleted, [self.bits(first)]);
                return;
            }
        }
        let number = self.numbering.external(&name);
        if let Some(closing) = self.close(call, arguments) {
            let any = self.unless_printed(call, &name, self.any_label(arguments));
            let site = self.site(call);
            let builder = self.builder();
            let reason = builder.const_i32(GiveUp::External as u32);
            self.call(entry::__tg_give_up, [any, reason, site, builder.const_i32(number)]);
            self.join(closing, &[]);
        }
        self.watch_call(call, &name, arguments);
    }

    /// Assembly may read what its operands point to, and write there: a memory operand as large as
    /// its type says, and through a pointer in a register what it likes.
    fn drop_memory(&mut self, call: Value, arguments: &[Value]) {
        if llvm::is_empty_asm(llvm::called(call)) {
            return;
        }
        let pointers = arguments.iter().enumerate().filter(|(_, argument)| {
            llvm::kind(llvm::type_of(**argument)) == LLVMTypeKind::LLVMPointerTypeKind
        });
        for (i, pointer) in pointers {
            let site = self.site(call);
            let builder = self.builder();
            builder.before(call);
            let size =
                call_type(call, i as u32, "elementtype").map_or(0, |ty| self.layout().size(ty));
            self.call(entry::__tg_assembly, [self.bits(*pointer), builder.const_i64(size), site]);
        }
    }

    /// An object of a size that is known.
    fn call_new(&mut self, call: Value, size: Value) {
        if let Some(closing) = self.close(call, &[size]) {
            let site = self.site(call);
            self.call(entry::__tg_new, [self.label_of(size), self.bits(size), site]);
            self.join(closing, &[]);
        }
        if let Some(at) = after(call) {
            self.builder().before(at);
            self.call(entry::__tg_created, [self.bits(call), self.bits(size)]);
        }
    }

    /// Also returns whether code that a pointer leads to is followed.
    fn send_arguments(
        &mut self,
        call: Value,
        callee: Callee,
        arguments: &[Value],
    ) -> Option<Value> {
        let builder = self.builder();
        let mut used = arguments.to_vec();
        used.push(llvm::called(call));
        let site = if callee == Callee::Model { Some(self.site(call)) } else { None };
        if let Some(closing) = self.close(call, &used) {
            if callee == Callee::Unknown {
                self.concretise(
                    self.label_of(llvm::called(call)),
                    ConcretiseReason::CallTarget,
                    call,
                );
            }
            if callee == Callee::Model {
                self.follow_pointers(arguments, site.unwrap_or(self.zero()));
            }
            let fixed = llvm::param_types(llvm::called_type(call)).len();
            let labels: Vec<Value> =
                arguments.iter().take(fixed).flat_map(|a| self.labels_of(*a)).collect();
            let (sent, beyond) = labels.split_at(labels.len().min(slots::ARGS));
            for (slot, label) in sent.iter().enumerate() {
                self.call(entry::__tgi_send_arg, [builder.const_i32(slot as u32), *label]);
            }
            for label in beyond {
                self.give_up(*label, GiveUp::Arguments, call);
            }
            self.send_varargs(call, arguments);
            self.join(closing, &[]);
        }
        self.send_structs(call, arguments);
        if let Some(site) = site {
            self.call(entry::__tgi_call_site, [site]);
        }
        if callee == Callee::Unknown {
            self.clear_results(call);
            return Some(self.watch_pointer(call, arguments));
        }
        None
    }

    /// Whoever does not send labels of results sends none.
    fn clear_results(&self, call: Value) {
        for slot in 0..self.result_slots(call).min(slots::RESULTS) {
            let slot = self.builder().const_i32(slot as u32);
            self.call(entry::__tgi_send_result, [slot, self.zero()]);
        }
    }

    /// Models know the bytes that pointers lead to, and not that others may lead elsewhere.
    fn follow_pointers(&self, arguments: &[Value], site: Value) {
        let is_pointer = |value: &&Value| {
            llvm::kind(llvm::type_of(**value)) == LLVMTypeKind::LLVMPointerTypeKind
        };
        for pointer in
            arguments.iter().filter(is_pointer).filter(|pointer| self.may_be_symbolic(**pointer))
        {
            self.call(entry::__tg_follow, [self.bits(*pointer), self.label_of(*pointer), site]);
        }
    }

    fn result_slots(&self, call: Value) -> usize {
        types::leaves(self.layout(), llvm::type_of(call)).map_or(0, |leaves| leaves.len())
    }

    /// Structs that the call instruction copies: their labels follow through the place of the
    /// original.
    fn send_structs(&mut self, call: Value, arguments: &[Value]) {
        let fixed = llvm::param_types(llvm::called_type(call)).len();
        let mut slot = 0;
        for (i, argument) in arguments.iter().enumerate() {
            let Some(ty) = call_byval(call, i as u32) else { continue };
            let builder = self.builder();
            if i < fixed && slot < slots::STRUCTS {
                let arguments = [builder.const_i32(slot as u32), self.bits(*argument)];
                self.call(entry::__tg_send_struct, arguments);
            } else {
                let size = builder.const_i64(self.layout().size(ty));
                let reason = builder.const_i32(GiveUp::Arguments as u32);
                self.call(entry::__tg_untracked_load, [self.bits(*argument), size, reason]);
            }
            slot += 1;
        }
    }

    /// Labels of variadic arguments by the place that the x86-64 calling convention gives them.
    fn send_varargs(&mut self, call: Value, arguments: &[Value]) {
        let ty = llvm::called_type(call);
        if !llvm::is_variadic(ty) {
            return;
        }
        let fixed = llvm::param_types(ty).len();
        let mut places = Places::default();
        for (i, argument) in arguments.iter().enumerate() {
            let byval = call_byval(call, i as u32).map(|ty| self.layout().size(ty));
            let offset = places.next(llvm::type_of(*argument), byval);
            if i < fixed || !self.may_be_symbolic(*argument) {
                continue;
            }
            if let Some(offset) = offset {
                let builder = self.builder();
                let label = self.whole_bytes(*argument);
                self.call(entry::__tg_send_vararg, [builder.const_i32(offset), label]);
            } else {
                self.give_up(self.any_label(&[*argument]), GiveUp::Arguments, call);
            }
        }
    }

    fn whole_bytes(&self, value: Value) -> Value {
        let bits = self.width(llvm::type_of(value));
        if bits.is_multiple_of(8) {
            return self.label_of(value);
        }
        self.resize(self.pair(value), bits.next_multiple_of(8), false).label
    }

    fn after_call(&mut self, call: Value, callee: Callee, sends: bool, followed: Option<Value>) {
        let Some(at) = after(call) else { return };
        if callee == Callee::External {
            let name = llvm::name(llvm::called(call));
            self.builder().before(at);
            if ends_data(call, &name) {
                self.label_printed(call, &name);
            } else {
                self.watch_return(call, &name);
            }
        }
        if !sends {
            return;
        }
        self.builder().before(at);
        if let Some(followed) = followed {
            self.call(entry::__tgi_args_taken, []);
            self.call(entry::__tgi_from_pointer, [followed]);
        }
        if self.may_be_symbolic(call) {
            let parts = self.parts(call);
            let labels = parts.into_iter().enumerate().map(|(slot, part)| {
                self.call(
                    entry::__tgi_take_result,
                    [self.builder().const_i32(slot as u32), self.bits(part)],
                )
            });
            let labels = labels.collect();
            self.set_labels(call, labels);
        }
    }

    /// The function's entry: labels of its parameters, and the runtime's start in `main`.
    pub fn enter(&mut self, blocks: &[(Block, Vec<Value>)]) {
        let Some(first) =
            blocks.first().and_then(|(_, instructions)| instructions.first().copied())
        else {
            return;
        };
        let at = llvm::after_allocas(first);
        self.builder().before(at);
        if llvm::name(self.function) == "main" {
            let Program { runtime, coverage, globals, .. } = self.program;
            runtime.start(self.builder(), coverage, *globals);
        }
        self.program.concrete.leave(self.builder(), self.program.runtime, self.function, at);
        self.watch_entry();
        self.list_arrays(blocks);
        self.take_structs();
        self.take_parameters(at);
        self.take_varargs(blocks, at);
    }

    /// Tells the runtime the bounds of the arrays in this frame, because pointers to them may be
    /// followed elsewhere.
    fn list_arrays(&mut self, blocks: &[(Block, Vec<Value>)]) {
        let builder = self.builder();
        let entry = blocks.first().map_or(&[][..], |(_, instructions)| instructions);
        for &alloca in entry.iter().take_while(|i| llvm::as_alloca(**i).is_some()) {
            let ty = llvm::allocated_type(alloca);
            let single = llvm::as_constant_int(llvm::operand(alloca, 0))
                .is_some_and(|n| llvm::constant_bits(n) == 1);
            if !single || !types::has_array(ty) {
                continue;
            }
            if self.frame.is_none() {
                self.frame = Some(self.call(entry::__tgi_enter_frame, []));
            }
            let size = builder.const_i64(self.layout().size(ty));
            self.call(entry::__tgi_stack_array, [self.bits(alloca), size]);
        }
    }

    fn take_structs(&self) {
        let builder = self.builder();
        let mut slot = 0;
        for i in 0..llvm::param_count(self.function) {
            let Some(ty) = function_byval(self.function, i) else { continue };
            let size = builder.const_i64(self.layout().size(ty));
            let place = self.bits(llvm::param(self.function, i));
            if slot < slots::STRUCTS {
                self.call(entry::__tg_take_struct, [builder.const_i32(slot as u32), place, size]);
            } else {
                self.call(entry::__tgi_clear, [place, size]);
            }
            slot += 1;
        }
    }

    /// Takes labels only if the caller sent any.
    fn take_parameters(&mut self, at: Value) {
        let parameters: Vec<Value> =
            (0..llvm::param_count(self.function)).map(|i| llvm::param(self.function, i)).collect();
        let tracked = parameters.iter().any(|p| {
            types::leaves(self.layout(), llvm::type_of(*p)).is_some_and(|leaves| !leaves.is_empty())
        });
        if !tracked {
            return;
        }
        let builder = self.builder();
        let in_flight = self.call(entry::__tgi_args_in_flight, []);
        let any = builder.compare(LLVMIntPredicate::LLVMIntNE, in_flight, self.zero());
        let head = llvm::split_before(builder.context, at);
        let join = llvm::block_of(at);
        let slow = builder.new_block(join);
        builder.at_end(head);
        builder.branch(any, slow, join);
        builder.at_end(slow);
        let mut slot = 0;
        let mut taken: Vec<(Value, Vec<Value>)> = Vec::new();
        for parameter in parameters {
            let mut labels = Vec::new();
            for part in self.tracked_parts(parameter) {
                let arguments = [builder.const_i32(slot), self.bits(part)];
                labels.push(if (slot as usize) < slots::ARGS {
                    self.call(entry::__tg_take_arg, arguments)
                } else {
                    self.zero()
                });
                slot += 1;
            }
            taken.push((parameter, labels));
        }
        self.call(entry::__tgi_args_taken, []);
        builder.jump(join);
        builder.before(at);
        for (parameter, labels) in taken {
            let merged = labels.into_iter().map(|label| {
                let phi = builder.phi(builder.i32);
                llvm::add_incoming(phi, self.zero(), head);
                llvm::add_incoming(phi, label, slow);
                phi
            });
            let merged = merged.collect();
            self.set_labels(parameter, merged);
        }
        builder.before(at);
    }

    fn tracked_parts(&self, value: Value) -> Vec<Value> {
        match types::leaves(self.layout(), llvm::type_of(value)) {
            Some(leaves) if !leaves.is_empty() => self.parts(value),
            _ => Vec::new(),
        }
    }

    fn take_varargs(&mut self, blocks: &[(Block, Vec<Value>)], at: Value) {
        let uses = blocks.iter().flat_map(|(_, instructions)| instructions).any(|i| {
            llvm::opcode(*i) == LLVMOpcode::LLVMCall
                && crate::intrinsics::intrinsic_name(*i)
                    .is_some_and(|name| name.starts_with("llvm.va_start"))
        });
        if !uses {
            return;
        }
        let builder = self.builder();
        // SAFETY: the array type is sized.
        let kept = builder.alloca(unsafe { LLVMArrayType2(builder.i32, slots::VARARGS as u64) });
        self.call(entry::__tg_take_varargs, [kept]);
        self.varargs = Some(kept);
        builder.before(at);
    }
}

/// Functions whose argument a parent can ask for.
const EXITS: [&str; 4] = ["exit", "_exit", "_Exit", "quick_exit"];

/// How names of functions begin that surround a program; most others of Tarragon's are models.
const SURROUNDING: &str = "tarragon_";

fn surrounds(function: Value) -> bool {
    attributes::is_own(function) && llvm::name(function).starts_with(SURROUNDING)
}

/// Whether symbolic data that the call gets does not come back, but in files.
fn ends_data(call: Value, name: &str) -> bool {
    ENDS_OF_DATA.contains(&name) || outside::only_prints(call, name)
}

/// Where the code after a call goes: after a call, or at the start of an invoke's normal
/// destination.
fn after(call: Value) -> Option<Value> {
    // SAFETY: the handle is a call or an invoke.
    unsafe {
        match llvm::opcode(call) {
            LLVMOpcode::LLVMInvoke => first_of(LLVMGetNormalDest(call)),
            LLVMOpcode::LLVMCall if !llvm::is_must_tail(call) => llvm::next_instruction(call),
            _ => None,
        }
    }
}

fn first_of(block: Block) -> Option<Value> {
    crate::visit::first_insertion(block)
}

/// Places of arguments in the save area: 6 general registers, 8 vector registers, then the stack.
struct Places {
    general: u32,
    vector: u32,
    stack: u32,
}

impl Default for Places {
    fn default() -> Places {
        Places { general: 0, vector: 48, stack: 176 }
    }
}

impl Places {
    /// The place of the next argument; `None` where its labels are not followed.
    fn next(&mut self, ty: Type, byval: Option<u64>) -> Option<u32> {
        if let Some(size) = byval {
            self.stack += (size as u32).next_multiple_of(8);
            return None;
        }
        let place = match llvm::kind(ty) {
            LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind => {
                take(&mut self.vector, 16, 176)
            }
            LLVMTypeKind::LLVMPointerTypeKind => take(&mut self.general, 8, 48),
            LLVMTypeKind::LLVMIntegerTypeKind if llvm::int_width(ty) <= 64 => {
                take(&mut self.general, 8, 48)
            }
            LLVMTypeKind::LLVMIntegerTypeKind => {
                self.general = (self.general + 16).min(48);
                return None;
            }
            _ => {
                self.stack = self.stack.next_multiple_of(16) + 16;
                return None;
            }
        };
        place.or_else(|| take(&mut self.stack, 8, u32::MAX))
    }
}

fn take(next: &mut u32, size: u32, limit: u32) -> Option<u32> {
    let place = *next;
    (place + size <= limit).then(|| {
        *next = place + size;
        place
    })
}

/// The type of a struct that argument `index` of a call passes by value.
fn call_byval(call: Value, index: u32) -> Option<Type> {
    call_type(call, index, "byval")
}

/// The type that an attribute gives argument `index` of a call.
fn call_type(call: Value, index: u32, attribute: &str) -> Option<Type> {
    // SAFETY: attribute index 0 is the result, so arguments start at 1.
    unsafe {
        let kind = llvm::attribute_kind(attribute);
        let attribute = llvm::non_null(LLVMGetCallSiteEnumAttribute(call, index + 1, kind))?;
        Some(LLVMGetTypeAttributeValue(attribute))
    }
}

fn function_byval(function: Value, index: u32) -> Option<Type> {
    // SAFETY: as above.
    unsafe {
        let kind = llvm::attribute_kind("byval");
        let attribute = llvm::non_null(LLVMGetEnumAttributeAtIndex(function, index + 1, kind))?;
        Some(LLVMGetTypeAttributeValue(attribute))
    }
}
