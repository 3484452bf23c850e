import Dispatch
import Synchronization
import Glibc

/// Standard error: lines are written by a thread of its own, and no other thread waits for whatever reads them. A full
/// pipe or a terminal that is held with Ctrl-S stops no work and no end of the process.
///
/// Lines wait in a queue of `mostBytes`. Those that do not fit are dropped and counted; once the queue is empty again, a
/// line tells how many. Lines of several threads never mix. Errors of writing are ignored, because there is no other
/// place to tell of them.
public final class ErrorOutput: Sendable {
  public static let standard = ErrorOutput(STDERR_FILENO)

  /// Enough for about ten thousand lines.
  static let mostBytes = 1 << 20

  private struct State {
    var queue: [[UInt8]] = []
    /// Bytes of the queue and of what is being written.
    var bytes = 0
    var dropped = 0
    var hasThread = false
    /// Whether someone has waited in vain and nothing was written since.
    var isStuck = false
    var waiting: [DispatchSemaphore] = []
    var wording: @Sendable (Int) -> String = { "warning: \(ErrorOutput.dropped($0))\n" }
  }

  private let descriptor: Int32
  private let state = Mutex(State())
  private let filled = DispatchSemaphore(value: 0)

  /// For tests: any descriptor, which must stay open as long as the process runs.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// `12 lines are missing here: …`.
  public static func dropped(_ count: Int) -> String {
    "\(count) \(count == 1 ? "line is" : "lines are") missing here: nothing read this log for a while"
  }

  /// What a whole line says of a number of dropped ones, in the form of the log.
  public func tellDropped(as wording: @escaping @Sendable (Int) -> String) {
    state.withLock { $0.wording = wording }
  }

  /// Never waits, except where no thread can be started: then it writes.
  public func write(_ bytes: [UInt8]) {
    let isTaken = state.withLock { state in
      if !state.hasThread { state.hasThread = start() }
      guard state.hasThread else { return false }
      // Until the note about dropped lines is written, further lines are dropped, too: the note stands before them.
      guard state.dropped == 0, state.bytes == 0 || state.bytes + bytes.count <= Self.mostBytes
      else {
        state.dropped += 1
        return true
      }
      state.queue.append(bytes)
      state.bytes += bytes.count
      return true
    }
    if isTaken { filled.signal() } else { put(bytes) }
  }

  /// Waits until all is written, `seconds` at most, and not at all while nothing has been written since an earlier wait
  /// was in vain. Returns whether all is written.
  @discardableResult
  public func flush(withinSeconds seconds: Double = 1) -> Bool {
    let written = DispatchSemaphore(value: 0)
    let isDone: Bool? = state.withLock { state in
      if state.bytes == 0, state.dropped == 0 { return true }
      if state.isStuck { return false }
      state.waiting.append(written)
      return nil
    }
    if let isDone { return isDone }
    if written.wait(timeout: .now() + seconds) == .success { return true }
    return state.withLock { state in
      state.waiting.removeAll { $0 === written }
      state.isStuck = state.bytes > 0
      return !state.isStuck
    }
  }

  // MARK: The thread

  /// Signals are for other threads: one that this thread took could end the process out of order.
  private func start() -> Bool {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return JobThread.start { [self] in
      while true {
        filled.wait()
        writeQueue()
      }
    }
  }

  private func writeQueue() {
    while true {
      let lines = state.withLock { state -> [[UInt8]] in
        defer { state.queue = [] }
        guard state.queue.isEmpty else { return state.queue }
        if state.dropped > 0 {
          let line = Array(state.wording(state.dropped).utf8)
          state.dropped = 0
          state.bytes += line.count
          return [line]
        }
        for one in state.waiting { one.signal() }
        state.waiting = []
        return []
      }
      if lines.isEmpty { return }
      for line in lines {
        put(line)
        state.withLock { state in
          state.bytes -= line.count
          state.isStuck = false
        }
      }
    }
  }

  private func put(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if count < 0, errno == EAGAIN {
        // Another program made it non-blocking.
        var one = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&one, 1, 1000)
      } else if count == 0 || errno != EINTR {
        return
      }
    }
  }
}
