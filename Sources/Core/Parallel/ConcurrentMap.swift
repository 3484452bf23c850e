import Dispatch
import Glibc
import Synchronization

/// Computes `body(0) … body(count - 1)` on all cores and returns the results in order.
///
/// Every iteration runs even if an earlier one throws; the error with the lowest index is thrown,
/// so that the outcome does not depend on timing. Each iteration holds a token of `budget`, if one
/// is given. Cost: one slot per iteration.
public func concurrentMap<Result: Sendable>(
  count: Int, budget: CoreBudget? = nil, _ body: @Sendable (Int) throws -> Result
) throws -> [Result] {
  let slots = SlotArray<Swift.Result<Result, any Error>>(count: count)
  let atOnce = min(HelperThreads.mostAtOnce, budget?.share ?? .max)
  withoutActuallyEscaping(body) { body in
    HelperThreads.perform(count, atOnce: atOnce) { index, _ in
      let outcome = Swift.Result {
        if let budget { try budget.withCore { try body(index) } } else { try body(index) }
      }
      slots.fill(index, with: outcome)
    }
  }
  return try slots.take().map { try $0.get() }
}

/// The results for all elements of `list`, in order. Each core takes `share` elements at a time: handing them out one
/// by one may cost as much as the work on one.
public func concurrentMap<List: RandomAccessCollection & Sendable, Result: Sendable>(
  _ list: List, share: Int, budget: CoreBudget? = nil,
  _ body: @Sendable (List.Element) throws -> Result
) throws -> [Result] {
  try concurrentMap(count: (list.count + share - 1) / share, budget: budget) { part in
    try list.dropFirst(part * share).prefix(share).map(body)
  }.flatMap(\.self)
}

/// `count` slots, each written by one iteration only and read after all are done.
final class SlotArray<Element: Sendable>: Sendable {
  // Safe: `fill` is called once per index, and `take` after every call of `fill` has returned.
  private nonisolated(unsafe) let storage: UnsafeMutableBufferPointer<Element?>

  init(count: Int) {
    storage = .allocate(capacity: count)
    storage.initialize(repeating: nil)
  }

  deinit {
    storage.deinitialize()
    storage.deallocate()
  }

  func fill(_ index: Int, with element: Element) {
    storage[index] = element
  }

  func take() -> [Element] { storage.compactMap { $0 } }
}

/// Splits `rows` rows of `rowLength` elements into at most `bands` bands of neighboring rows and
/// runs `body(rowRange, elements)` for all bands in parallel.
///
/// `elements` starts at the first element of the band; no two bands share an element. Bands differ
/// by at most one row. With one band the call is a plain call.
public func withConcurrentRowBands<Element: BitwiseCopyable & Sendable>(
  of array: inout [Element], rows: Int, rowLength: Int, bands: Int,
  _ body: @Sendable (Range<Int>, inout MutableSpan<Element>) -> Void
) {
  precondition(array.count >= rows * rowLength)
  let bands = max(1, min(bands, rows))
  array.withUnsafeMutableBufferPointer { buffer in
    let shared = DisjointBuffer(buffer: buffer)
    withoutActuallyEscaping(body) { body in
      HelperThreads.perform(bands) { band, _ in
        let range = (rows * band / bands)..<(rows * (band + 1) / bands)
        shared.withSlice((range.lowerBound * rowLength)..<(range.upperBound * rowLength)) {
          var span = $0.mutableSpan
          body(range, &span)
        }
      }
    }
  }
}

/// A buffer whose slices are handed to several threads; callers ask for slices that do not overlap.
private struct DisjointBuffer<Element> {
  // Safe: `withConcurrentRowBands` is the only caller and its row ranges are disjoint.
  nonisolated(unsafe) let buffer: UnsafeMutableBufferPointer<Element>

  func withSlice(_ range: Range<Int>, _ body: (UnsafeMutableBufferPointer<Element>) -> Void) {
    body(UnsafeMutableBufferPointer(rebasing: buffer[range]))
  }
}

/// Threads of this process that help with work that is spread over the cores.
///
/// Work begins under `DispatchQueue.concurrentPerform` as long as the system can create threads;
/// when it cannot, libdispatch sleeps until it can. In that case, and when work in progress may use
/// more cores, threads of this type help. They are created on demand and end after `idleSeconds`
/// without work. A thread that cannot be created is not an error: the caller takes part in the work
/// and does all of it if no helper comes.
public enum HelperThreads {
  /// A piece of work in numbered parts, from 0, and the threads that take part in it.
  final class Work: Sendable {
    let count: Int
    // Safe: called for parts only, and all of them are done when `perform`, which lends it, clears
    // it.
    private nonisolated(unsafe) var body: (@Sendable (Int, Work) -> Void)?
    private let next = Atomic<Int>(0)
    /// Number of helpers requested so far.
    private let asked = Atomic<Int>(0)
    /// Number of helpers that have joined and not left, and whether the caller waits for them.
    private let helpers = Mutex((joined: 0, isWaitedFor: false))
    private let allLeft = DispatchSemaphore(value: 0)

    init(_ count: Int, _ body: @escaping @Sendable (Int, Work) -> Void) {
      self.count = count
      self.body = body
    }

    /// Runs parts until none is left.
    func takePart() {
      while true {
        let piece = next.add(1, ordering: .relaxed).oldValue
        guard piece < count else { return }
        body?(piece, self)
      }
    }

    /// Records that this many threads take part already, the caller included.
    func begin(with threads: Int) { asked.store(threads - 1, ordering: .relaxed) }

    /// Lets this many threads take part from now on, the caller included; requests more helpers if
    /// parts are left for them. A smaller number than before changes nothing.
    func widen(to threads: Int) {
      let wanted = min(threads, count) - 1
      let before = asked.load(ordering: .relaxed)
      guard wanted > before,
        asked.compareExchange(expected: before, desired: wanted, ordering: .relaxed).exchanged
      else { return }
      HelperThreads.ask(wanted - before, for: self)
    }

    func join() { helpers.withLock { $0.joined += 1 } }

    func leave() {
      let isLast = helpers.withLock { helpers in
        helpers.joined -= 1
        return helpers.joined == 0 && helpers.isWaitedFor
      }
      if isLast { allLeft.signal() }
    }

    /// Waits for the helpers that have joined; called when all parts are given out.
    func finish() {
      let mustWait = helpers.withLock { helpers in
        helpers.isWaitedFor = true
        return helpers.joined > 0
      }
      if mustWait { allLeft.wait() }
      body = nil
    }
  }

  private struct State {
    /// Work that requests a helper, once per requested helper.
    var wanted: [Work] = []
    var threads = 0
    var idle = 0
  }

  private static let state = Mutex(State())
  private static let isWanted = DispatchSemaphore(value: 0)
  private static let width = Atomic<Int>(0)

  /// Seconds that a helper waits for work before it ends.
  private static let idleSeconds = 5.0

  /// How many threads may work on one thing at a time, the caller included. By default the number
  /// of processors that this process may use; 0 restores the default.
  public static var mostAtOnce: Int {
    get {
      let given = width.load(ordering: .relaxed)
      return given > 0 ? given : ProcessorCount.available
    }
    set { width.store(max(0, newValue), ordering: .relaxed) }
  }

  /// Calls `body(0) … body(count - 1)`, each once, on the calling thread and on helpers at the same
  /// time; returns when all have returned.
  ///
  /// - Parameter atOnce: how many threads may take part; `body` may raise it (`Work.widen`).
  static func perform(
    _ count: Int, atOnce: Int = mostAtOnce, _ body: @escaping @Sendable (Int, Work) -> Void
  ) {
    let work = Work(count, body)
    let threads = min(atOnce, count)
    if threads > 1, canStart(threads - 1) {
      work.begin(with: threads)
      DispatchQueue.concurrentPerform(iterations: threads) { _ in work.takePart() }
    } else {
      work.widen(to: atOnce)
      work.takePart()
    }
    if count > 1 { state.withLock { $0.wanted.removeAll { $0 === work } } }
    work.finish()
  }

  fileprivate static func ask(_ count: Int, for work: Work) {
    let missing = state.withLock { state in
      state.wanted.append(contentsOf: repeatElement(work, count: count))
      let missing = max(0, state.wanted.count - state.idle)
      state.threads += missing
      state.idle += missing
      return missing
    }
    for _ in 0..<count { isWanted.signal() }
    var started = 0
    while started < missing, JobThread.start(help) { started += 1 }
    if started < missing {
      let lacking = missing - started
      state.withLock { state in
        state.threads -= lacking
        state.idle -= lacking
      }
    }
  }

  /// The main loop of a helper. A helper is counted as idle even before its thread exists.
  private static func help() {
    while true {
      let isCalled = isWanted.wait(timeout: .now() + idleSeconds) == .success
      let (work, isOver) = state.withLock { state -> (Work?, Bool) in
        if let work = state.wanted.popLast() {
          state.idle -= 1
          work.join()
          return (work, false)
        }
        // The work that this helper was called for is finished.
        if isCalled { return (nil, false) }
        state.threads -= 1
        state.idle -= 1
        return (nil, true)
      }
      if isOver { return }
      guard let work else { continue }
      work.takePart()
      work.leave()
      state.withLock { $0.idle += 1 }
    }
  }

  /// How many helpers exist.
  static var count: Int { state.withLock { $0.threads } }

  /// Whether `count` more threads can be created now. Creates them and ends them, so the answer may
  /// be outdated in the next moment.
  ///
  /// Cost: about 20 µs a thread.
  private static func canStart(_ count: Int) -> Bool {
    var made: [pthread_t] = []
    defer { for thread in made { pthread_join(thread, nil) } }
    for _ in 0..<count {
      var thread = pthread_t()
      guard pthread_create(&thread, nil, { _ in nil }, nil) == 0 else { return false }
      made.append(thread)
    }
    return true
  }
}

/// How many processors this process may use.
public enum ProcessorCount {
  /// Number of processors in the affinity mask of this process; at least 1.
  public static let available: Int = {
    let online = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    return allowed(in: status()).map { max(1, min($0, online)) } ?? online
  }()

  /// Number of bits in the mask of `/proc/self/status`: hexadecimal digits with commas between
  /// groups.
  static func allowed(in status: String) -> Int? {
    let name = "Cpus_allowed:"
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else {
      return nil
    }
    let count = line.dropFirst(name.count).reduce(0) {
      $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0)
    }
    return count > 0 ? count : nil
  }

  private static func status() -> String {
    let file = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 16384)
    let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}
