//! Instructions with effects: control flow and memory. Calls are in [`crate::calls`].

use crate::entry;
use crate::expressions::{Pair, is_pure};
use crate::function::{Function, points_to_constant, underlying_object};
use crate::llvm::{self, Block, LLVMOpcode, LLVMTypeKind, Value};
use crate::memo::{Consumed, Consumer, ConsumerKind};
use crate::types::{self, Leaf};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMAtomicRMWBinOp, LLVMLinkage};
use sites::SiteKind;
use trace::{ConcretiseReason, GiveUp, Op, slots};

impl Function<'_> {
    pub fn visit(&mut self, instruction: Value) {
        use LLVMOpcode::*;
        match llvm::opcode(instruction) {
            LLVMPHI | LLVMFence => {}
            LLVMLandingPad => self.caught(instruction),
            LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem => self.division(instruction),
            opcode if is_pure(opcode) => self.pure(instruction),
            LLVMLoad => self.load(instruction),
            LLVMStore => self.store(instruction),
            LLVMAlloca => self.alloca(instruction),
            LLVMCall | LLVMInvoke | LLVMCallBr => self.call_instruction(instruction),
            LLVMBr => self.branch(instruction),
            LLVMSwitch => self.switch(instruction),
            LLVMIndirectBr => self.computed_jump(instruction),
            LLVMRet => self.ret(instruction),
            LLVMAtomicRMW => self.atomic_update(instruction),
            LLVMAtomicCmpXchg => self.compare_exchange(instruction),
            _ => self.other(instruction),
        }
    }

    /// Functions that an exception left did not return.
    fn caught(&self, landing: Value) {
        if let Some(at) = first_insertion(llvm::block_of(landing)) {
            self.builder().before(at);
            self.call(entry::__tg_caught, []);
        }
    }

    /// A pure instruction joins the region; one whose result carries no label drops its operands'
    /// labels.
    fn pure(&mut self, instruction: Value) {
        if self.may_be_symbolic(instruction) {
            return self.defer(instruction);
        }
        let untracked = types::leaves(self.layout(), llvm::type_of(instruction)).is_none();
        if untracked {
            self.other(instruction);
        }
    }

    /// Instructions that are not followed: symbolic operands are dropped, and that is counted.
    fn other(&mut self, instruction: Value) {
        let used: Vec<Value> =
            crate::function::operands(instruction).filter(|v| self.may_be_symbolic(*v)).collect();
        if used.is_empty() {
            if is_terminator(instruction) {
                self.flush(instruction, &[]);
            }
            return;
        }
        let reason = match llvm::kind(llvm::type_of(instruction)) {
            LLVMTypeKind::LLVMVectorTypeKind => GiveUp::Vector,
            LLVMTypeKind::LLVMX86_FP80TypeKind => GiveUp::LongDouble,
            LLVMTypeKind::LLVMIntegerTypeKind => GiveUp::WideInteger,
            _ => GiveUp::Intrinsic,
        };
        self.drop_labels(instruction, &used, reason);
    }

    /// Closes the region; if one of `used` has a label, that is given up.
    pub fn drop_labels(&mut self, instruction: Value, used: &[Value], reason: GiveUp) {
        let Some(closing) = self.close(instruction, used) else { return };
        let any = self.any_label(used);
        self.give_up(any, reason, instruction);
        self.join(closing, &[]);
    }

    /// All labels of some values, or-ed.
    pub fn any_label(&self, values: &[Value]) -> Value {
        let labels: Vec<Value> = values.iter().flat_map(|v| self.labels_of(*v)).collect();
        let builder = self.builder();
        labels
            .into_iter()
            .reduce(|a, b| builder.binary(LLVMOpcode::LLVMOr, a, b))
            .unwrap_or(self.zero())
    }

    fn branch(&mut self, branch: Value) {
        if !llvm::is_conditional(branch) {
            return self.flush(branch, &[]);
        }
        let condition = llvm::condition(branch);
        let number = self.numbering.number_of(branch).unwrap_or(0);
        let consumer = Consumer { wanted: condition, site: number, kind: ConsumerKind::Branch };
        let Some(closing) = self.close_with(branch, &[condition], Some(consumer)) else { return };
        if self.may_be_symbolic(condition) && matches!(closing.consumed, Consumed::No) {
            self.record(self.label_of(condition), &consumer);
        }
        self.join(closing, &[]);
        if self.is_decided(condition) {
            self.set_labels(condition, vec![self.zero()]);
        }
    }

    /// Records a branch or switch on what has this label.
    pub fn record(&self, label: Value, consumer: &Consumer) {
        let builder = self.builder();
        let site = builder.const_i32(consumer.site);
        let ConsumerKind::Switch(list, count) = consumer.kind else {
            let taken = builder.cast(LLVMOpcode::LLVMZExt, consumer.wanted, builder.i32);
            self.call(entry::__tg_branch, [label, taken, site]);
            return;
        };
        let width = builder.const_i32(self.width(llvm::type_of(consumer.wanted)));
        let value = self.bits(consumer.wanted);
        self.call(entry::__tg_switch, [label, value, width, list, builder.const_i32(count), site]);
    }

    fn switch(&mut self, switch: Value) {
        if llvm::successor_count(switch) == 1 {
            return self.flush(switch, &[]);
        }
        let value = llvm::operand(switch, 0);
        let number = self.numbering.number_of(switch);
        let bits = self.width(llvm::type_of(value));
        let consumer =
            match number.map(|n| (n, self.numbering.table.sites[n as usize].kind.clone())) {
                Some((site, SiteKind::Switch { cases, .. }))
                    if bits <= 64 && self.may_be_symbolic(value) =>
                {
                    let list = self.constant_list(switch, &cases);
                    Some(Consumer {
                        wanted: value,
                        site,
                        kind: ConsumerKind::Switch(list, cases.len() as u32),
                    })
                }
                _ => None,
            };
        let Some(closing) = self.close_with(switch, &[value], consumer) else { return };
        let label = self.label_of(value);
        match consumer {
            Some(consumer) if matches!(closing.consumed, Consumed::No) => {
                self.record(label, &consumer)
            }
            Some(_) => {}
            None => self.concretise(label, ConcretiseReason::JumpTarget, switch),
        }
        self.join(closing, &[]);
    }

    fn constant_list(&self, instruction: Value, values: &[u64]) -> Value {
        let builder = self.builder();
        let mut constants: Vec<Value> = values.iter().map(|v| builder.const_i64(*v)).collect();
        // SAFETY: the initialiser has the global's type.
        unsafe {
            let module = LLVMGetGlobalParent(llvm::function_of(llvm::block_of(instruction)));
            let list = LLVMConstArray2(builder.i64, constants.as_mut_ptr(), constants.len() as u64);
            let global = LLVMAddGlobal(module, llvm::type_of(list), c"".as_ptr());
            LLVMSetInitializer(global, list);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
            global
        }
    }

    pub fn concretise(&mut self, label: Value, reason: ConcretiseReason, instruction: Value) {
        let site = self.site(instruction);
        self.call(entry::__tg_concretise, [label, self.builder().const_i32(reason as u32), site]);
    }

    /// Values whose labels are not followed are at one place each.
    fn fix_address(&mut self, pointer: Value, reason: ConcretiseReason, access: Value) {
        if self.may_be_symbolic(pointer) {
            self.concretise(self.label_of(pointer), reason, access);
        }
    }

    fn computed_jump(&mut self, jump: Value) {
        let target = llvm::operand(jump, 0);
        let Some(closing) = self.close(jump, &[target]) else { return };
        self.concretise(self.label_of(target), ConcretiseReason::JumpTarget, jump);
        self.join(closing, &[]);
    }

    fn ret(&mut self, ret: Value) {
        let values: Vec<Value> = crate::function::operands(ret).collect();
        if let Some(call) = llvm::previous_instruction(ret).filter(|i| llvm::is_must_tail(*i)) {
            return self.leave_by_tail_call(call);
        }
        self.flush(ret, &values);
        let builder = self.builder();
        if let Some(frame) = self.frame {
            self.call(entry::__tgi_leave_frame, [frame]);
        }
        self.watch_result(ret, &values);
        for value in values {
            let labels = self.labels_of(value);
            let (sent, beyond) = labels.split_at(labels.len().min(slots::RESULTS));
            for (slot, label) in sent.iter().enumerate() {
                self.call(entry::__tgi_send_result, [builder.const_i32(slot as u32), *label]);
            }
            for label in beyond {
                self.give_up(*label, GiveUp::Arguments, ret);
            }
        }
    }

    /// Nothing may stand between such a call and the return; the callee has sent the result, to
    /// whoever is waiting for it.
    fn leave_by_tail_call(&self, call: Value) {
        if let Some(frame) = self.frame {
            self.builder().before(call);
            self.call(entry::__tgi_leave_frame, [frame]);
        }
    }

    /// A division is checked before it is executed.
    fn division(&mut self, division: Value) {
        let (a, b) = (llvm::operand(division, 0), llvm::operand(division, 1));
        let bits = self.width(llvm::type_of(division));
        if (1..=64).contains(&bits)
            && self.may_be_symbolic(b)
            && let Some(closing) = self.close(division, &[a, b])
        {
            let builder = self.builder();
            let signed =
                matches!(llvm::opcode(division), LLVMOpcode::LLVMSDiv | LLVMOpcode::LLVMSRem);
            let site = self.site(division);
            let (a, b) = (self.pair(a), self.pair(b));
            let arguments = [
                a.label,
                b.label,
                self.bits(a.value),
                self.bits(b.value),
                builder.const_i32(bits),
                builder.const_i32(signed as u32),
                site,
            ];
            self.call(entry::__tg_division, arguments);
            self.join(closing, &[]);
        }
        self.pure(division);
    }

    /// The object that a pointer was computed from, if that is visible here: its start and size.
    fn object(&self, pointer: Value) -> (Value, Value) {
        let builder = self.builder();
        match self.whole_object(pointer) {
            Some((object, size)) => (self.bits(object), builder.const_i64(size)),
            None => (builder.const_i64(0), builder.const_i64(0)),
        }
    }

    /// The local or global variable that a pointer leads into.
    fn whole_object(&self, pointer: Value) -> Option<(Value, u64)> {
        let object = underlying_object(pointer);
        if let Some(alloca) = llvm::as_alloca(object) {
            let count = llvm::as_constant_int(llvm::operand(alloca, 0)).map(llvm::constant_bits)?;
            return Some((object, count * self.layout().size(llvm::allocated_type(alloca))));
        }
        llvm::as_global_variable(object)
            .filter(|g| !llvm::is_declaration(*g) && !llvm::is_global_constant(*g))
            .map(|global| (object, self.layout().size(llvm::value_type(global))))
    }

    /// Label of a scalar that was loaded from `address`, on the fast path.
    fn loaded(&self, address: Value, value: Value) -> Value {
        let builder = self.builder();
        let ty = llvm::type_of(value);
        let (bits, size) = (self.width(ty), self.layout().store_size(ty));
        let label = match size {
            1 => self.call(entry::__tgi_load1, [address, self.bits(value)]),
            2 => self.call(entry::__tgi_load2, [address, self.bits(value)]),
            4 => self.call(entry::__tgi_load4, [address, self.bits(value)]),
            8 => self.call(entry::__tgi_load8, [address, self.bits(value)]),
            _ => self
                .call(entry::__tg_load_sized, [address, self.bits(value), builder.const_i64(size)]),
        };
        self.narrow(label, value, bits, size)
    }

    /// A label of whole bytes as one of the value's own width (a `bool` has one bit).
    fn narrow(&self, label: Value, value: Value, bits: u32, size: u64) -> Value {
        let builder = self.builder();
        let stored = size as u32 * 8;
        if stored == bits {
            return label;
        }
        let op = builder.const_i32(Op::Extract as u32);
        if stored > 64 {
            return self.call(
                entry::__tg_cast_wide,
                [op, builder.const_i32(bits), label, self.bits(value)],
            );
        }
        let arguments =
            [op, builder.const_i32(stored), builder.const_i32(bits), label, self.bits(value)];
        self.call(entry::__tg_cast, arguments)
    }

    /// A label of the value's own width as one of whole bytes.
    fn widen(&self, label: Value, value: Value, bits: u32, size: u64) -> Value {
        let builder = self.builder();
        let stored = size as u32 * 8;
        if stored == bits {
            return label;
        }
        let op = builder.const_i32(Op::ZExt as u32);
        if stored > 64 {
            return self.call(
                entry::__tg_cast_wide,
                [op, builder.const_i32(stored), label, self.bits(value)],
            );
        }
        let arguments =
            [op, builder.const_i32(bits), builder.const_i32(stored), label, self.bits(value)];
        self.call(entry::__tg_cast, arguments)
    }

    /// Notes the label of a scalar that is stored at `address`.
    fn stored(&self, address: Value, label: Value, value: Value) {
        let builder = self.builder();
        let ty = llvm::type_of(value);
        let (bits, size) = (self.width(ty), self.layout().store_size(ty));
        let label =
            if llvm::is_constant(label) { label } else { self.widen(label, value, bits, size) };
        match size {
            1 => self.call(entry::__tgi_store1, [address, label]),
            2 => self.call(entry::__tgi_store2, [address, label]),
            4 => self.call(entry::__tgi_store4, [address, label]),
            8 => self.call(entry::__tgi_store8, [address, label]),
            _ => self.call(entry::__tg_store_sized, [address, label, builder.const_i64(size)]),
        };
    }

    fn load(&mut self, load: Value) {
        let pointer = llvm::operand(load, 0);
        let Some(next) = llvm::next_instruction(load) else { return };
        if points_to_constant(pointer) && !self.may_be_symbolic(pointer) {
            return;
        }
        let Some(leaves) =
            types::leaves(self.layout(), llvm::type_of(load)).filter(|l| !l.is_empty())
        else {
            return self.untracked_load(load, pointer, next);
        };
        let consumer = self.fetch(load, pointer, &leaves);
        let closing = if self.may_be_symbolic(pointer) {
            self.close_with(next, &[pointer], consumer)
        } else {
            None
        };
        let Some(closing) = closing else {
            self.builder().before(next);
            let labels = self.load_labels(load, pointer, &leaves);
            return self.set_labels(load, labels);
        };
        let slow = match (closing.consumed, consumer) {
            (Consumed::Loaded(label), _) => vec![self.narrowed(label, load)],
            (_, Some(Consumer { site, kind: ConsumerKind::Load(value, size), .. })) => {
                let label = self.load_at(pointer, self.label_of(pointer), value, size, site);
                vec![self.narrowed(label, load)]
            }
            _ => self.load_parts_at(load, pointer, &leaves),
        };
        self.fast_side(&closing);
        let fast = self.load_labels(load, pointer, &leaves);
        let pairs: Vec<(Value, Value)> = fast.into_iter().zip(slow).collect();
        let labels = self.join(closing, &pairs);
        self.set_labels(load, labels);
    }

    fn untracked_load(&mut self, load: Value, pointer: Value, next: Value) {
        self.flush(next, &[pointer]);
        self.fix_address(pointer, ConcretiseReason::ReadAddress, load);
        let builder = self.builder();
        let size = builder.const_i64(self.layout().store_size(llvm::type_of(load)));
        let reason = match llvm::kind(llvm::type_of(load)) {
            LLVMTypeKind::LLVMVectorTypeKind => GiveUp::Vector,
            LLVMTypeKind::LLVMX86_FP80TypeKind => GiveUp::LongDouble,
            _ => GiveUp::WideInteger,
        };
        self.call(
            entry::__tg_untracked_load,
            [self.bits(pointer), size, builder.const_i32(reason as u32)],
        );
    }

    /// The scalars of a value with the addresses that they have in memory.
    fn scalars(&self, value: Value, pointer: Value, leaves: &[Leaf]) -> Vec<(Value, Value)> {
        let builder = self.builder();
        let base = self.bits(pointer);
        if let [_] = leaves
            && types::scalar_bits(llvm::type_of(value)).is_some()
        {
            return vec![(value, base)];
        }
        let parts = self.parts(value);
        let place = |(part, leaf): (Value, &Leaf)| {
            (part, builder.binary(LLVMOpcode::LLVMAdd, base, builder.const_i64(leaf.offset)))
        };
        parts.into_iter().zip(leaves).map(place).collect()
    }

    /// The scalars of a value, in the order of its labels.
    pub fn parts(&self, value: Value) -> Vec<Value> {
        let ty = llvm::type_of(value);
        let count = match llvm::kind(ty) {
            LLVMTypeKind::LLVMStructTypeKind => llvm::struct_size(ty),
            LLVMTypeKind::LLVMArrayTypeKind => llvm::array_size(ty) as u32,
            _ => return vec![value],
        };
        (0..count).flat_map(|i| self.parts(self.builder().extract(value, i))).collect()
    }

    fn load_labels(&self, load: Value, pointer: Value, leaves: &[Leaf]) -> Vec<Value> {
        if points_to_constant(pointer) {
            return vec![self.zero(); leaves.len()];
        }
        let scalars = self.scalars(load, pointer, leaves);
        scalars.into_iter().map(|(part, address)| self.loaded(address, part)).collect()
    }

    /// A load of one scalar at an address that may be symbolic.
    fn fetch(&mut self, load: Value, pointer: Value, leaves: &[Leaf]) -> Option<Consumer> {
        let ty = llvm::type_of(load);
        let is_scalar = leaves.len() == 1 && types::scalar_bits(ty).is_some();
        (is_scalar && self.may_be_symbolic(pointer)).then(|| {
            let site = self.numbering.plain(load);
            Consumer {
                wanted: pointer,
                site,
                kind: ConsumerKind::Load(load, self.layout().store_size(ty)),
            }
        })
    }

    /// Label of `size` bytes that were loaded as `value` at an address with a label.
    pub fn load_at(
        &self,
        pointer: Value,
        label: Value,
        value: Value,
        size: u64,
        site: u32,
    ) -> Value {
        let builder = self.builder();
        let (start, object_size) = self.object(pointer);
        let [size, site] = [builder.const_i64(size), builder.const_i32(site)];
        let arguments =
            [self.bits(pointer), label, self.bits(value), size, start, object_size, site];
        self.call(entry::__tg_load_at, arguments)
    }

    /// The label of a loaded scalar, of whole bytes, as one of its own width.
    fn narrowed(&self, label: Value, load: Value) -> Value {
        let ty = llvm::type_of(load);
        self.narrow(label, load, self.width(ty), self.layout().store_size(ty))
    }

    /// Labels of a load of several scalars whose address may be symbolic.
    fn load_parts_at(&mut self, load: Value, pointer: Value, leaves: &[Leaf]) -> Vec<Value> {
        let label = self.label_of(pointer);
        if let [_] = leaves {
            let site = self.numbering.plain(load);
            let scalars = self.scalars(load, pointer, leaves);
            return scalars
                .into_iter()
                .map(|(part, address)| {
                    let size = self.layout().store_size(llvm::type_of(part));
                    let loaded = self.load_at(address, label, part, size, site);
                    self.narrowed(loaded, part)
                })
                .collect();
        }
        self.concretise(label, ConcretiseReason::ReadAddress, load);
        self.load_labels(load, pointer, leaves)
    }

    fn store(&mut self, store: Value) {
        let (value, pointer) = (llvm::operand(store, 0), llvm::operand(store, 1));
        let Some(leaves) =
            types::leaves(self.layout(), llvm::type_of(value)).filter(|l| !l.is_empty())
        else {
            return self.untracked_store(store, value, pointer);
        };
        let symbolic = self.may_be_symbolic(value) || self.may_be_symbolic(pointer);
        let closing = if symbolic { self.close(store, &[value, pointer]) } else { None };
        let Some(closing) = closing else {
            self.builder().before(store);
            for (part, address) in self.scalars(value, pointer, &leaves) {
                self.stored(address, self.zero(), part);
            }
            return;
        };
        if self.may_be_symbolic(pointer) {
            self.store_labels_at(store, value, pointer, &leaves);
        } else {
            let labels = self.labels_of(value);
            for ((part, address), label) in
                self.scalars(value, pointer, &leaves).into_iter().zip(labels)
            {
                self.stored(address, label, part);
            }
        }
        self.fast_side(&closing);
        for (part, address) in self.scalars(value, pointer, &leaves) {
            self.stored(address, self.zero(), part);
        }
        self.join(closing, &[]);
    }

    fn store_labels_at(&mut self, store: Value, value: Value, pointer: Value, leaves: &[Leaf]) {
        let address_label = self.label_of(pointer);
        let labels = self.labels_of(value);
        if leaves.len() > 1 {
            self.concretise(address_label, ConcretiseReason::WriteAddress, store);
            for ((part, address), label) in
                self.scalars(value, pointer, leaves).into_iter().zip(labels)
            {
                self.stored(address, label, part);
            }
            return;
        }
        let site = self.site(store);
        let (start, object_size) = self.object(pointer);
        let builder = self.builder();
        for ((part, address), label) in self.scalars(value, pointer, leaves).into_iter().zip(labels)
        {
            let ty = llvm::type_of(part);
            let (bits, size) = (self.width(ty), self.layout().store_size(ty));
            let label = self.widen(label, part, bits, size);
            let size = builder.const_i64(size);
            let arguments =
                [address, address_label, label, self.bits(part), size, start, object_size, site];
            self.call(entry::__tg_store_at, arguments);
        }
    }

    fn untracked_store(&mut self, store: Value, value: Value, pointer: Value) {
        self.flush(store, &[pointer]);
        self.fix_address(pointer, ConcretiseReason::WriteAddress, store);
        let builder = self.builder();
        let size = self.layout().store_size(llvm::type_of(value));
        self.call(entry::__tgi_clear, [self.bits(pointer), builder.const_i64(size)]);
    }

    /// A stack object starts without labels.
    fn alloca(&mut self, alloca: Value) {
        let count = llvm::operand(alloca, 0);
        let element = self.layout().size(llvm::allocated_type(alloca));
        let Some(mut next) = llvm::next_instruction(alloca) else { return };
        if self.may_be_symbolic(count)
            && let Some(closing) = self.close(alloca, &[count])
        {
            self.concretise(self.label_of(count), ConcretiseReason::StackSize, alloca);
            self.join(closing, &[]);
        }
        while llvm::as_alloca(next).is_some()
            && let Some(after) = llvm::next_instruction(next)
        {
            next = after;
        }
        let builder = self.builder();
        builder.before(next);
        let count = builder.zext_or_trunc(count, builder.i64);
        let size = builder.binary(LLVMOpcode::LLVMMul, count, builder.const_i64(element));
        if llvm::as_constant_int(size).is_none_or(|size| llvm::constant_bits(size) > 0) {
            self.call(entry::__tgi_clear, [self.bits(alloca), size]);
        }
    }

    fn atomic_update(&mut self, update: Value) {
        let (pointer, value) = (llvm::operand(update, 0), llvm::operand(update, 1));
        let Some(next) = llvm::next_instruction(update) else { return };
        self.flush(next, &[pointer, value]);
        if types::scalar_bits(llvm::type_of(update)).is_none_or(|bits| bits > 64) {
            return self.set_labels(update, vec![self.zero()]);
        }
        let address = self.bits(pointer);
        let old = Pair { value: update, label: self.loaded(address, update) };
        let new = self.pair(value);
        use LLVMAtomicRMWBinOp::*;
        // SAFETY: the instruction is an atomic update.
        let op = match unsafe { LLVMGetAtomicRMWBinOp(update) } {
            LLVMAtomicRMWBinOpAdd => Some(Op::Add),
            LLVMAtomicRMWBinOpSub => Some(Op::Sub),
            LLVMAtomicRMWBinOpAnd => Some(Op::And),
            LLVMAtomicRMWBinOpOr => Some(Op::Or),
            LLVMAtomicRMWBinOpXor => Some(Op::Xor),
            LLVMAtomicRMWBinOpXchg => None,
            _ => {
                let any = self.builder().binary(LLVMOpcode::LLVMOr, old.label, new.label);
                self.give_up(any, GiveUp::Atomic, update);
                self.stored(address, self.zero(), update);
                return self.set_labels(update, vec![old.label]);
            }
        };
        let label = op.map_or(new.label, |op| self.binary_label(op, old, new, update));
        self.stored(address, label, update);
        self.set_labels(update, vec![old.label]);
    }

    fn compare_exchange(&mut self, exchange: Value) {
        let [pointer, expected, new] = [0, 1, 2].map(|i| llvm::operand(exchange, i));
        let Some(next) = llvm::next_instruction(exchange) else { return };
        self.flush(next, &[pointer, expected, new]);
        if types::scalar_bits(llvm::type_of(new)).is_none_or(|bits| bits > 64) {
            return;
        }
        let builder = self.builder();
        let address = self.bits(pointer);
        let (value, success) = (builder.extract(exchange, 0), builder.extract(exchange, 1));
        let old = Pair { value, label: self.loaded(address, value) };
        let equal = self.binary_label(Op::Eq, old, self.pair(expected), success);
        let kept = builder.select(success, self.label_of(new), old.label);
        self.stored(address, kept, new);
        self.set_labels(exchange, vec![old.label, equal]);
    }
}

fn is_terminator(instruction: Value) -> bool {
    // SAFETY: the handle is an instruction.
    unsafe { !LLVMIsATerminatorInst(instruction).is_null() }
}

/// The first place in a block where ordinary instructions can stand.
pub fn first_insertion(block: Block) -> Option<Value> {
    let mut at = llvm::first_instruction(block)?;
    while matches!(llvm::opcode(at), LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMLandingPad) {
        at = llvm::next_instruction(at)?;
    }
    Some(at)
}
