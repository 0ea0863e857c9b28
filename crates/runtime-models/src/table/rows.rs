//! The rows: each library function that has a model. See [the table](super) for what a row says.

use super::*;
use crate::characters::class;
use crate::compare::{EXACT, FOLDED};
use crate::element::Element;
use crate::{
    arithmetic, characters, compare, conversions, copy, decimals, heap, input, messages, numbers,
    positions, print, process, scan, search, sort, spans, stdio, tokens, wide_input,
};
use core::ptr::null_mut;

models! {
    // Lengths and comparisons.
    byte strlen(text: Text) -> Count { after compare::length }
    wide wcslen(text: Text) -> Count { after compare::length }
    byte strnlen(text: Text, limit: Limit) -> Count { after compare::length_within }
    wide wcsnlen(text: Text, limit: Limit) -> Count { after compare::length_within }
    byte strcmp(a: Text, b: Text) -> Sign { after compare::strings[EXACT] }
    wide wcscmp(a: Text, b: Text) -> Sign { after compare::strings[EXACT] }
    byte strncmp(a: Text, b: Text, limit: Limit) -> Sign { after compare::strings_within[EXACT] }
    wide wcsncmp(a: Text, b: Text, limit: Limit) -> Sign { after compare::strings_within[EXACT] }
    byte strcasecmp(a: Text, b: Text) -> Sign { after compare::strings[FOLDED] }
    wide wcscasecmp(a: Text, b: Text) -> Sign { after compare::strings[FOLDED] }
    byte strncasecmp(a: Text, b: Text, limit: Limit) -> Sign {
        after compare::strings_within[FOLDED]
    }
    wide wcsncasecmp(a: Text, b: Text, limit: Limit) -> Sign {
        after compare::strings_within[FOLDED]
    }
    byte strcoll(a: Text, b: Text) -> Sign { after compare::collated }
    wide wcscoll(a: Text, b: Text) -> Sign { after compare::collated }
    byte memcmp(a: Memory, b: Memory, count: Extent) -> Sign { after compare::memory }
    wide wmemcmp(a: Memory, b: Memory, count: Extent) -> Sign { after compare::memory }
    byte bcmp(a: Memory, b: Memory, count: Extent) -> Sign { after compare::equality }

    // Searches.
    byte memchr(from: Memory, c: Character, count: Limit) -> Buffer {
        after search::first_in_memory
    }
    wide wmemchr(from: Memory, c: Character, count: Limit) -> Buffer {
        after search::first_in_memory
    }
    byte rawmemchr(from: Memory, c: Character) -> Buffer { after search::first_without_end }
    byte memrchr(from: Memory, c: Character, count: Limit) -> Buffer {
        after search::last_in_memory
    }
    byte strchr | index (text: Text, c: Character) -> Into { after search::first }
    wide wcschr(text: Text, c: Character) -> Into { after search::first }
    byte strchrnul(text: Text, c: Character) -> Into { after search::first_or_end }
    wide wcschrnul(text: Text, c: Character) -> Into { after search::first_or_end }
    byte strrchr | rindex (text: Text, c: Character) -> Into { after search::last }
    wide wcsrchr(text: Text, c: Character) -> Into { after search::last }
    byte strstr(text: Text, pattern: Text) -> Into { after search::string }
    wide wcsstr | wcswcs (text: Text, pattern: Text) -> Into { after search::string }
    byte strcasestr(text: Text, pattern: Text) -> Into { after search::folded_string }
    byte memmem(from: Memory, count: Limit, pattern: Memory, pattern_count: Limit) -> Buffer {
        after search::memory
    }
    byte strpbrk(text: Text, set: Set) -> Into { after spans::first_member }
    wide wcspbrk(text: Text, set: Set) -> Into { after spans::first_member }
    byte strspn(text: Text, set: Set) -> Count { after spans::span }
    wide wcsspn(text: Text, set: Set) -> Count { after spans::span }
    byte strcspn(text: Text, set: Set) -> Count { after spans::span_until }
    wide wcscspn(text: Text, set: Set) -> Count { after spans::span_until }

    // Tokens.
    byte strtok_r | __strtok_r (text: Into, set: Set, rest: Place) -> Into {
        instead tokens::next[real::strtok_r]
    }
    wide wcstok(text: Into, set: Set, rest: Place) -> Into { instead tokens::next[real::wcstok] }
    byte strtok(text: Into, set: Set) -> Into { instead tokens::next_of_process }
    byte strsep | __strsep_g (rest: Place, set: Set) -> Into { instead tokens::separated }

    // Copies and fills.
    byte strcpy(to: Into, from: Text) -> Into { instead copy::string }
    wide wcscpy(to: Into, from: Text) -> Into { instead copy::string }
    byte stpcpy | __stpcpy (to: Into, from: Text) -> Into { instead copy::string_to_end }
    wide wcpcpy(to: Into, from: Text) -> Into { instead copy::string_to_end }
    byte strncpy(to: Into, from: Text, count: Extent) -> Into { instead copy::padded }
    wide wcsncpy(to: Into, from: Text, count: Extent) -> Into { instead copy::padded }
    byte stpncpy | __stpncpy (to: Into, from: Text, count: Extent) -> Into {
        instead copy::padded_to_end
    }
    wide wcpncpy(to: Into, from: Text, count: Extent) -> Into { instead copy::padded_to_end }
    byte strcat(to: Into, from: Text) -> Into { instead copy::append }
    wide wcscat(to: Into, from: Text) -> Into { instead copy::append }
    byte strncat(to: Into, from: Text, limit: Limit) -> Into { instead copy::append_within }
    wide wcsncat(to: Into, from: Text, limit: Limit) -> Into { instead copy::append_within }
    byte strlcpy(to: Into, from: Text, room: Limit) -> Count { instead copy::bounded }
    wide wcslcpy(to: Into, from: Text, room: Limit) -> Count { instead copy::bounded }
    byte strlcat(to: Into, from: Text, room: Limit) -> Count { instead copy::append_in_room }
    wide wcslcat(to: Into, from: Text, room: Limit) -> Count { instead copy::append_in_room }
    byte memcpy | memmove (to: Buffer, from: Memory, count: Extent) -> Buffer {
        instead copy::elements
    }
    wide wmemcpy | wmemmove (to: Buffer, from: Memory, count: Extent) -> Buffer {
        instead copy::elements
    }
    byte mempcpy | __mempcpy (to: Buffer, from: Memory, count: Extent) -> Buffer {
        instead copy::elements_to_end
    }
    wide wmempcpy(to: Buffer, from: Memory, count: Extent) -> Buffer {
        instead copy::elements_to_end
    }
    byte bcopy(from: Memory, to: Buffer, count: Extent) -> Nothing { instead copy::from_first }
    byte memset(to: Buffer, c: Character, count: Extent) -> Buffer { instead copy::filled }
    wide wmemset(to: Buffer, c: Character, count: Extent) -> Buffer { instead copy::filled }
    byte bzero | explicit_bzero (to: Buffer, count: Extent) -> Nothing { instead copy::zeroed }
    byte memccpy(to: Buffer, from: Memory, c: Number, count: Limit) -> Buffer {
        instead copy::up_to
    }
    byte swab(from: Memory, to: Buffer, size: SignedLimit) -> Nothing {
        instead copy::swapped_pairs
    }

    // The same where `_FORTIFY_SOURCE` knows the room of the destination. Where that is too small,
    // the library's own function ends the program.
    byte __strcpy_chk(to: Into, from: Text, room: Room) -> Into {
        checked strcpy(to, from) needs byte::length(from) + 1
    }
    wide __wcscpy_chk(to: Into, from: Text, room: Room) -> Into {
        checked wcscpy(to, from) needs wide::length(from) + 1
    }
    byte __stpcpy_chk(to: Into, from: Text, room: Room) -> Into {
        checked stpcpy(to, from) needs byte::length(from) + 1
    }
    wide __wcpcpy_chk(to: Into, from: Text, room: Room) -> Into {
        checked wcpcpy(to, from) needs wide::length(from) + 1
    }
    byte __strncpy_chk(to: Into, from: Text, count: Extent, room: Room) -> Into {
        checked strncpy(to, from, count) needs count
    }
    wide __wcsncpy_chk(to: Into, from: Text, count: Extent, room: Room) -> Into {
        checked wcsncpy(to, from, count) needs count
    }
    byte __stpncpy_chk(to: Into, from: Text, count: Extent, room: Room) -> Into {
        checked stpncpy(to, from, count) needs count
    }
    wide __wcpncpy_chk(to: Into, from: Text, count: Extent, room: Room) -> Into {
        checked wcpncpy(to, from, count) needs count
    }
    byte __strcat_chk(to: Into, from: Text, room: Room) -> Into {
        checked strcat(to, from) needs byte::length(to) + byte::length(from) + 1
    }
    wide __wcscat_chk(to: Into, from: Text, room: Room) -> Into {
        checked wcscat(to, from) needs wide::length(to) + wide::length(from) + 1
    }
    byte __strncat_chk(to: Into, from: Text, limit: Limit, room: Room) -> Into {
        checked strncat(to, from, limit)
            needs byte::length(to) + byte::length_within(from, limit) + 1
    }
    wide __wcsncat_chk(to: Into, from: Text, limit: Limit, room: Room) -> Into {
        checked wcsncat(to, from, limit)
            needs wide::length(to) + wide::length_within(from, limit) + 1
    }
    byte __memcpy_chk(to: Buffer, from: Memory, count: Extent, room: Room) -> Buffer {
        checked memcpy(to, from, count) needs count
    }
    wide __wmemcpy_chk(to: Buffer, from: Memory, count: Extent, room: Room) -> Buffer {
        checked wmemcpy(to, from, count) needs count
    }
    byte __memmove_chk(to: Buffer, from: Memory, count: Extent, room: Room) -> Buffer {
        checked memmove(to, from, count) needs count
    }
    wide __wmemmove_chk(to: Buffer, from: Memory, count: Extent, room: Room) -> Buffer {
        checked wmemmove(to, from, count) needs count
    }
    byte __mempcpy_chk(to: Buffer, from: Memory, count: Extent, room: Room) -> Buffer {
        checked mempcpy(to, from, count) needs count
    }
    wide __wmempcpy_chk(to: Buffer, from: Memory, count: Extent, room: Room) -> Buffer {
        checked wmempcpy(to, from, count) needs count
    }
    byte __memset_chk(to: Buffer, c: Character, count: Extent, room: Room) -> Buffer {
        checked memset(to, c, count) needs count
    }
    wide __wmemset_chk(to: Buffer, c: Character, count: Extent, room: Room) -> Buffer {
        checked wmemset(to, c, count) needs count
    }
    byte __explicit_bzero_chk(to: Buffer, count: Extent, room: Room) -> Nothing {
        checked explicit_bzero(to, count) needs count
    }

    // Numbers in text.
    byte atoi(text: Text) -> Int { instead numbers::int }
    byte atol(text: Text) -> Long { instead numbers::long }
    byte atoll(text: Text) -> LongLong { instead numbers::long }
    byte strtol | strtoimax (text: Text, end: Place, base: Number) -> Long {
        instead numbers::integer[real::strtol, false]
    }
    wide wcstol | wcstoimax (text: Text, end: Place, base: Number) -> Long {
        instead numbers::integer[real::wcstol, false]
    }
    byte strtoll(text: Text, end: Place, base: Number) -> LongLong {
        instead numbers::integer[real::strtoll, false]
    }
    wide wcstoll(text: Text, end: Place, base: Number) -> LongLong {
        instead numbers::integer[real::wcstoll, false]
    }
    byte strtoul | strtoumax (text: Text, end: Place, base: Number) -> UnsignedLong {
        instead numbers::integer[real::strtoul, false]
    }
    wide wcstoul | wcstoumax (text: Text, end: Place, base: Number) -> UnsignedLong {
        instead numbers::integer[real::wcstoul, false]
    }
    byte strtoull(text: Text, end: Place, base: Number) -> UnsignedLongLong {
        instead numbers::integer[real::strtoull, false]
    }
    wide wcstoull(text: Text, end: Place, base: Number) -> UnsignedLongLong {
        instead numbers::integer[real::wcstoull, false]
    }
    byte __isoc23_strtol | __isoc23_strtoimax (text: Text, end: Place, base: Number) -> Long {
        instead numbers::integer[real::__isoc23_strtol, true]
    }
    wide __isoc23_wcstol | __isoc23_wcstoimax (text: Text, end: Place, base: Number) -> Long {
        instead numbers::integer[real::__isoc23_wcstol, true]
    }
    byte __isoc23_strtoll(text: Text, end: Place, base: Number) -> LongLong {
        instead numbers::integer[real::__isoc23_strtoll, true]
    }
    wide __isoc23_wcstoll(text: Text, end: Place, base: Number) -> LongLong {
        instead numbers::integer[real::__isoc23_wcstoll, true]
    }
    byte __isoc23_strtoul | __isoc23_strtoumax (text: Text, end: Place, base: Number)
        -> UnsignedLong
    {
        instead numbers::integer[real::__isoc23_strtoul, true]
    }
    wide __isoc23_wcstoul | __isoc23_wcstoumax (text: Text, end: Place, base: Number)
        -> UnsignedLong
    {
        instead numbers::integer[real::__isoc23_wcstoul, true]
    }
    byte __isoc23_strtoull(text: Text, end: Place, base: Number) -> UnsignedLongLong {
        instead numbers::integer[real::__isoc23_strtoull, true]
    }
    wide __isoc23_wcstoull(text: Text, end: Place, base: Number) -> UnsignedLongLong {
        instead numbers::integer[real::__isoc23_wcstoull, true]
    }
    byte strtod(text: Text, end: Place) -> Double { instead decimals::double[real::strtod] }
    wide wcstod(text: Text, end: Place) -> Double { instead decimals::double[real::wcstod] }
    byte strtof(text: Text, end: Place) -> Float { instead decimals::float[real::strtof] }
    wide wcstof(text: Text, end: Place) -> Float { instead decimals::float[real::wcstof] }
    byte atof(text: Text) -> Double { call strtod(text, null_mut()) }

    // Arithmetic.
    byte abs(x: Int) -> Int { instead arithmetic::absolute_int }
    byte labs | imaxabs (x: Long) -> Long { instead arithmetic::absolute_long }
    byte llabs(x: LongLong) -> LongLong { instead arithmetic::absolute_long }
    byte div(a: Int, b: Int) -> Quotients { instead arithmetic::division }
    byte ldiv(a: Long, b: Long) -> LongQuotients { instead arithmetic::long_division }
    byte lldiv(a: LongLong, b: LongLong) -> LongLongQuotients { instead arithmetic::long_division }
    byte imaxdiv(a: Long, b: Long) -> MaxQuotients { instead arithmetic::long_division }
    byte ntohs | htons (x: Short) -> Short { instead arithmetic::swapped_short }
    byte ntohl | htonl (x: Word) -> Word { instead arithmetic::swapped_word }

    // Characters.
    byte __ctype_b_loc() -> ClassTable { instead characters::table[real::__ctype_b_loc] }
    byte __ctype_toupper_loc() -> CaseTable { instead characters::table[real::__ctype_toupper_loc] }
    byte __ctype_tolower_loc() -> CaseTable { instead characters::table[real::__ctype_tolower_loc] }
    byte toupper(c: Int) -> Int {
        instead characters::case_in[real::__ctype_toupper_loc, real::toupper]
    }
    byte tolower(c: Int) -> Int {
        instead characters::case_in[real::__ctype_tolower_loc, real::tolower]
    }
    wide towupper(c: WideOrEnd) -> WideOrEnd { after characters::wide_case[b'a'] }
    wide towlower(c: WideOrEnd) -> WideOrEnd { after characters::wide_case[b'A'] }
    byte isupper(c: Int) -> Int { instead characters::is_in_class[class::UPPER] }
    byte islower(c: Int) -> Int { instead characters::is_in_class[class::LOWER] }
    byte isalpha(c: Int) -> Int { instead characters::is_in_class[class::ALPHA] }
    byte isdigit(c: Int) -> Int { instead characters::is_in_class[class::DIGIT] }
    byte isxdigit(c: Int) -> Int { instead characters::is_in_class[class::XDIGIT] }
    byte isspace(c: Int) -> Int { instead characters::is_in_class[class::SPACE] }
    byte isprint(c: Int) -> Int { instead characters::is_in_class[class::PRINT] }
    byte isgraph(c: Int) -> Int { instead characters::is_in_class[class::GRAPH] }
    byte isblank(c: Int) -> Int { instead characters::is_in_class[class::BLANK] }
    byte iscntrl(c: Int) -> Int { instead characters::is_in_class[class::CNTRL] }
    byte ispunct(c: Int) -> Int { instead characters::is_in_class[class::PUNCT] }
    byte isalnum(c: Int) -> Int { instead characters::is_in_class[class::ALNUM] }
    wide iswupper(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::UPPER] }
    wide iswlower(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::LOWER] }
    wide iswalpha(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::ALPHA] }
    wide iswdigit(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::DIGIT] }
    wide iswxdigit(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::XDIGIT] }
    wide iswspace(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::SPACE] }
    wide iswprint(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::PRINT] }
    wide iswgraph(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::GRAPH] }
    wide iswblank(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::BLANK] }
    wide iswcntrl(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::CNTRL] }
    wide iswpunct(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::PUNCT] }
    wide iswalnum(c: WideOrEnd) -> Int { after characters::wide_is_in_class[class::ALNUM] }
    byte btowc(c: Int) -> WideOrEnd { after conversions::of_byte }
    byte mbstowcs(to: WidePlace, from: Encoded, limit: Limit) -> Count {
        after conversions::of_string
    }
    byte mbtowc(to: WidePlace, from: Encoded, limit: Limit) -> Int {
        after conversions::of_character_in_process
    }
    byte mbrtowc(to: WidePlace, from: Encoded, limit: Limit, state: ConversionState) -> Count {
        after conversions::of_character
    }

    // The heap.
    byte malloc(size: ObjectSize) -> Object { instead heap::object }
    byte calloc(count: ObjectSize, size: ObjectSize) -> Object { instead heap::array }
    byte realloc(old: Object, size: ObjectSize) -> Object { instead heap::resized }
    byte reallocarray(old: Object, count: ObjectSize, size: ObjectSize) -> Object {
        instead heap::resized_array
    }
    byte free(object: Object) -> Nothing { instead heap::released }
    byte aligned_alloc(alignment: Alignment, size: ObjectSize) -> Object {
        instead heap::aligned[real::aligned_alloc]
    }
    byte memalign(alignment: Alignment, size: ObjectSize) -> Object {
        instead heap::aligned[real::memalign]
    }
    byte valloc(size: ObjectSize) -> Object { instead heap::pages[real::valloc] }
    byte pvalloc(size: ObjectSize) -> Object { instead heap::pages[real::pvalloc] }
    byte posix_memalign(to: ObjectPlace, alignment: Alignment, size: ObjectSize) -> Status {
        instead heap::aligned_into
    }
    byte strdup | __strdup (text: Text) -> Into { instead heap::string }
    wide wcsdup(text: Text) -> Into { instead heap::string }
    byte strndup | __strndup (text: Text, limit: Limit) -> Into { instead heap::string_within }

    // Files and memory.
    byte read(fd: Descriptor, to: Buffer, count: Extent) -> SignedCount {
        instead input::sequential
    }
    byte __read_chk(fd: Descriptor, to: Buffer, count: Extent, room: Room) -> SignedCount {
        checked read(fd, to, count) needs count
    }
    byte pread | pread64 (fd: Descriptor, to: Buffer, count: Limit, offset: Offset)
        -> SignedCount
    {
        instead input::at_offset
    }
    byte __pread_chk | __pread64_chk
        (fd: Descriptor, to: Buffer, count: Limit, offset: Offset, room: Room) -> SignedCount
    {
        checked pread(fd, to, count, offset) needs count
    }
    byte readv(fd: Descriptor, pieces: Pieces, count: Number) -> SignedCount {
        instead input::pieces
    }
    byte preadv | preadv64 (fd: Descriptor, pieces: Pieces, count: Number, offset: Offset)
        -> SignedCount
    {
        instead input::pieces_at_offset
    }
    byte mmap | mmap64 (at: Buffer, size: MappingSize, protection: Number, flags: Number,
        fd: Descriptor, offset: Offset) -> Buffer
    {
        instead input::mapped
    }
    byte munmap(at: Buffer, size: MappingSize) -> Status { instead input::unmapped }
    byte close(fd: Number) -> Status { instead input::closed }
    byte lseek | lseek64 (fd: Descriptor, offset: Offset, whence: Number) -> Offset {
        instead positions::moved
    }
    byte fstat(fd: Descriptor, status: FileStatus) -> Status { instead input::status }
    byte fstat64(fd: Descriptor, status: FileStatus64) -> Status { call fstat(fd, status) }
    byte stat(path: Path, status: FileStatus) -> Status { instead input::status_of[real::stat] }
    byte stat64(path: Path, status: FileStatus64) -> Status { call stat(path, status) }
    byte lstat(path: Path, status: FileStatus) -> Status { instead input::status_of[real::lstat] }
    byte lstat64(path: Path, status: FileStatus64) -> Status { call lstat(path, status) }
    byte fstatat(folder: Descriptor, path: Path, status: FileStatus, flags: Number) -> Status {
        instead input::status_in
    }
    byte fstatat64(folder: Descriptor, path: Path, status: FileStatus64, flags: Number) -> Status {
        call fstatat(folder, path, status, flags)
    }
    byte recv(fd: Descriptor, to: Buffer, count: Limit, flags: Number) -> SignedCount {
        instead messages::received
    }
    byte __recv_chk(fd: Descriptor, to: Buffer, count: Limit, room: Room, flags: Number)
        -> SignedCount
    {
        checked recv(fd, to, count, flags) needs count
    }
    byte recvfrom(fd: Descriptor, to: Buffer, count: Limit, flags: Number, from: SocketAddress,
        from_size: SocketAddressSize) -> SignedCount
    {
        instead messages::received_with_sender
    }
    byte __recvfrom_chk(fd: Descriptor, to: Buffer, count: Limit, room: Room, flags: Number,
        from: SocketAddress, from_size: SocketAddressSize) -> SignedCount
    {
        checked recvfrom(fd, to, count, flags, from, from_size) needs count
    }
    byte recvmsg(fd: Descriptor, message: Message, flags: Number) -> SignedCount {
        instead messages::message
    }

    // Streams.
    byte getc | fgetc | _IO_getc | getc_unlocked | fgetc_unlocked (stream: Stream) -> Int {
        instead stdio::next_byte[real::getc]
    }
    byte getchar | getchar_unlocked () -> Int { call getc(stdio::stdin) }
    byte __uflow(stream: Stream) -> Int { instead stdio::next_byte[real::__uflow] }
    byte __underflow(stream: Stream) -> Int { instead stdio::fill }
    byte ungetc(c: Int, stream: Stream) -> Int { instead stdio::push_back }
    byte fread | fread_unlocked (to: Buffer, size: ElementSize, count: Extent, stream: Stream)
        -> Count
    {
        instead stdio::read_objects
    }
    byte __fread_chk | __fread_unlocked_chk
        (to: Buffer, room: Room, size: ElementSize, count: Extent, stream: Stream) -> Count
    {
        checked fread(to, size, count, stream) needs size.saturating_mul(count)
    }
    byte fgets | fgets_unlocked (to: Into, size: IntLimit, stream: Stream) -> Into {
        instead stdio::line
    }
    byte __fgets_chk | __fgets_unlocked_chk
        (to: Into, room: Room, size: IntLimit, stream: Stream) -> Into
    {
        checked fgets(to, size, stream) needs size.max(0) as usize
    }
    byte getdelim | __getdelim
        (line: LinePlace, size: SizePlace, delimiter: Number, stream: Stream) -> SignedCount
    {
        instead stdio::allocated_line
    }
    byte getline(line: LinePlace, size: SizePlace, stream: Stream) -> SignedCount {
        call getdelim(line, size, b'\n'.into(), stream)
    }
    byte getw(stream: Stream) -> Int { instead stdio::word }
    byte fopen | fopen64 (path: Path, mode: Mode) -> Stream { instead stdio::open }
    byte fdopen(fd: Descriptor, mode: Mode) -> Stream { instead stdio::open_descriptor }
    byte freopen | freopen64 (path: Path, mode: Mode, stream: Stream) -> Stream {
        instead stdio::open_again
    }
    byte fclose(stream: Stream) -> Status { instead stdio::close }
    byte fseek | fseeko | fseeko64 (stream: Stream, offset: LongOffset, whence: Number) -> Status {
        instead positions::seek
    }
    byte rewind(stream: Stream) -> Nothing { instead positions::rewind }
    byte ftell | ftello | ftello64 (stream: Stream) -> LongOffset { instead positions::tell }
    byte fgetpos(stream: Stream, position: FilePosition) -> Status { instead positions::stream_position }
    byte fgetpos64(stream: Stream, position: FilePosition64) -> Status {
        call fgetpos(stream, position)
    }
    byte fsetpos(stream: Stream, position: OldPosition) -> Status {
        instead positions::seek_position
    }
    byte fsetpos64(stream: Stream, position: OldPosition64) -> Status {
        call fsetpos(stream, position)
    }
    wide fgetwc | getwc | fgetwc_unlocked | getwc_unlocked (stream: Stream) -> WideOrEnd {
        instead wide_input::next
    }
    wide getwchar | getwchar_unlocked () -> WideOrEnd { call fgetwc(stdio::stdin) }
    wide ungetwc(c: WideOrEnd, stream: Stream) -> WideOrEnd { instead wide_input::push_back }
    wide fgetws | fgetws_unlocked (to: Into, size: IntLimit, stream: Stream) -> Into {
        instead wide_input::line
    }
    wide __fgetws_chk | __fgetws_unlocked_chk
        (to: Into, room: Room, size: IntLimit, stream: Stream) -> Into
    {
        checked fgetws(to, size, stream) needs size.max(0) as usize
    }

    // Formats.
    byte vsscanf(text: Text, format: Format, list: List) -> Int {
        instead scan::string[real::vsscanf]
    }
    byte __isoc99_vsscanf(text: Text, format: Format, list: List) -> Int {
        instead scan::string[real::__isoc99_vsscanf]
    }
    byte __isoc23_vsscanf(text: Text, format: Format, list: List) -> Int {
        instead scan::string[real::__isoc23_vsscanf]
    }
    byte vfscanf(stream: Stream, format: Format, list: List) -> Int {
        instead scan::stream[real::vfscanf]
    }
    byte __isoc99_vfscanf(stream: Stream, format: Format, list: List) -> Int {
        instead scan::stream[real::__isoc99_vfscanf]
    }
    byte __isoc23_vfscanf(stream: Stream, format: Format, list: List) -> Int {
        instead scan::stream[real::__isoc23_vfscanf]
    }
    byte vscanf(format: Format, list: List) -> Int { call vfscanf(stdio::stdin, format, list) }
    byte __isoc99_vscanf(format: Format, list: List) -> Int {
        call __isoc99_vfscanf(stdio::stdin, format, list)
    }
    byte __isoc23_vscanf(format: Format, list: List) -> Int {
        call __isoc23_vfscanf(stdio::stdin, format, list)
    }
    byte vsnprintf(to: Into, size: Limit, format: Format, list: List) -> Int {
        instead print::within
    }
    byte __vsnprintf_chk
        (to: Into, size: Limit, flag: Number, room: Room, format: Format, list: List) -> Int
    {
        instead print::checked_within
    }
    byte vsprintf(to: Into, format: Format, list: List) -> Int { instead print::string }
    byte __vsprintf_chk(to: Into, flag: Number, room: Room, format: Format, list: List) -> Int {
        instead print::checked_string
    }
    byte vasprintf(to: Place, format: Format, list: List) -> Int { instead print::allocated }

    // Functions that call the program's own.
    byte qsort(base: Buffer, count: Limit, size: ElementSize, compare: Comparison) -> Nothing {
        instead sort::sorted
    }
    byte qsort_r(base: Buffer, count: Limit, size: ElementSize, compare: ComparisonWith,
        argument: Argument) -> Nothing
    {
        instead sort::sorted_with
    }
    byte bsearch(key: Memory, base: Memory, count: Limit, size: ElementSize, compare: Comparison)
        -> Buffer
    {
        instead sort::found
    }
    byte fork() -> Process { instead process::child }
    byte pthread_create(thread: Thread, attributes: ThreadAttributes, start: ThreadStart,
        argument: Argument) -> Status
    {
        instead process::thread
    }
}

/// Functions with variable arguments, which the instrumenter collects into a list.
pub mod variadic {
    use super::*;

    variadic_models! {
        byte sscanf(text: Text, format: Format, list: Variable) -> Int {
            variadic vsscanf(text, format, list)
        }
        byte __isoc99_sscanf(text: Text, format: Format, list: Variable) -> Int {
            variadic __isoc99_vsscanf(text, format, list)
        }
        byte __isoc23_sscanf(text: Text, format: Format, list: Variable) -> Int {
            variadic __isoc23_vsscanf(text, format, list)
        }
        byte fscanf(stream: Stream, format: Format, list: Variable) -> Int {
            variadic vfscanf(stream, format, list)
        }
        byte __isoc99_fscanf(stream: Stream, format: Format, list: Variable) -> Int {
            variadic __isoc99_vfscanf(stream, format, list)
        }
        byte __isoc23_fscanf(stream: Stream, format: Format, list: Variable) -> Int {
            variadic __isoc23_vfscanf(stream, format, list)
        }
        byte scanf(format: Format, list: Variable) -> Int {
            variadic vfscanf(stdio::stdin, format, list)
        }
        byte __isoc99_scanf(format: Format, list: Variable) -> Int {
            variadic __isoc99_vfscanf(stdio::stdin, format, list)
        }
        byte __isoc23_scanf(format: Format, list: Variable) -> Int {
            variadic __isoc23_vfscanf(stdio::stdin, format, list)
        }
        byte snprintf(to: Into, size: Limit, format: Format, list: Variable) -> Int {
            variadic vsnprintf(to, size, format, list)
        }
        byte sprintf(to: Into, format: Format, list: Variable) -> Int {
            variadic vsprintf(to, format, list)
        }
        byte asprintf(to: Place, format: Format, list: Variable) -> Int {
            variadic vasprintf(to, format, list)
        }
        byte __snprintf_chk
            (to: Into, size: Limit, flag: Number, room: Room, format: Format, list: Variable) -> Int
        {
            variadic __vsnprintf_chk(to, size, flag, room, format, list)
        }
        byte __sprintf_chk(to: Into, flag: Number, room: Room, format: Format, list: Variable)
            -> Int
        {
            variadic __vsprintf_chk(to, flag, room, format, list)
        }
    }
}
