import Dispatch

/// Calls on several threads at once.
enum DispatchLoop {
  static func run(_ count: Int, _ body: @Sendable (Int) -> Void) {
    withoutActuallyEscaping(body) {
      DispatchQueue.concurrentPerform(iterations: count, execute: $0)
    }
  }
}
