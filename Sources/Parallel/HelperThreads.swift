import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// The threads of this process that help with work which is spread over the cores.
///
/// Work begins under `DispatchQueue.concurrentPerform`, as long as the system has threads to give: where
/// it gives none, libdispatch sleeps until it does. Then, and when work that has begun may use more cores,
/// threads of our own help: they are made when they are first needed and end after a while without work.
/// One that cannot be had is done without: whoever asks for help takes part in the work and does all of
/// it if nobody comes.
public enum HelperThreads {
  /// Some work in pieces, numbered from 0, and those who take part in it.
  final class Work: Sendable {
    let count: Int
    // Safe: called for pieces only, and all are done when `perform`, which lends it, takes it back.
    private nonisolated(unsafe) var body: (@Sendable (Int, Work) -> Void)?
    private let next = Atomic<Int>(0)
    /// Helpers that were asked for.
    private let asked = Atomic<Int>(0)
    /// Helpers that have joined and not left, and whether the one who asked waits for them.
    private let helpers = Mutex((joined: 0, isWaitedFor: false))
    private let allLeft = DispatchSemaphore(value: 0)

    init(_ count: Int, _ body: @escaping @Sendable (Int, Work) -> Void) {
      self.count = count
      self.body = body
    }

    /// Does pieces until none is left.
    func takePart() {
      while true {
        let piece = next.add(1, ordering: .relaxed).oldValue
        guard piece < count else { return }
        body?(piece, self)
      }
    }

    /// So many threads take part already, the one who asked for help included.
    func begin(with threads: Int) { asked.store(threads - 1, ordering: .relaxed) }

    /// From now on so many threads may take part, the one who asked for help included: asks for more
    /// helpers if there are pieces for them. Fewer than now changes nothing.
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

    /// Once all pieces are given out: who joins now finds none.
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
    /// Work that asks for a helper, once per helper asked for.
    var wanted: [Work] = []
    var threads = 0
    var idle = 0
  }

  private static let state = Mutex(State())
  private static let isWanted = DispatchSemaphore(value: 0)
  private static let width = Atomic<Int>(0)

  /// How long a helper waits for work before it ends.
  private static let idleSeconds = 5.0

  /// How many threads may work at one thing at a time, the one who asks included: the processors that
  /// this process may use, unless somebody says otherwise.
  public static var mostAtOnce: Int {
    get {
      let given = width.load(ordering: .relaxed)
      return given > 0 ? given : ProcessorCount.available
    }
    set { width.store(max(0, newValue), ordering: .relaxed) }
  }

  /// `body(0) … body(count - 1)`, each called once, by the caller and by helpers side by side; returns
  /// when all have returned.
  ///
  /// - Parameter atOnce: how many threads may take part; `body` may ask for more (`Work.widen`).
  static func perform(
    _ count: Int, atOnce: Int = mostAtOnce, _ body: @escaping @Sendable (Int, Work) -> Void
  ) {
    let work = Work(count, body)
    let threads = min(atOnce, count)
    if threads > 1, ThreadSupply.gives(threads - 1) {
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

  /// What a helper does all its life. It counts as idle from before it exists.
  private static func help() {
    while true {
      let isCalled = isWanted.wait(timeout: .now() + idleSeconds) == .success
      let (work, isOver) = state.withLock { state -> (Work?, Bool) in
        if let work = state.wanted.popLast() {
          state.idle -= 1
          work.join()
          return (work, false)
        }
        // What it was called for has been done without it.
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

  /// How many helpers there are now.
  static var count: Int { state.withLock { $0.threads } }
}
