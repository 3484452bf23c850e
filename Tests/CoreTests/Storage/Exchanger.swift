@testable import Core
import Synchronization
import SystemPackage
import Glibc

/// A thread of its own that exchanges two names until it is stopped.
final class Exchanger: Sendable {
  private let isStopped = Atomic<Bool>(false)
  private let a: FilePath
  private let b: FilePath
  private let thread: Mutex<pthread_t>

  init(_ a: FilePath, _ b: FilePath) throws {
    self.a = a
    self.b = b
    thread = Mutex(pthread_t())
    let context = Unmanaged.passRetained(self).toOpaque()
    let code = thread.withLock { thread in
      pthread_create(
        &thread, nil,
        { context in
          if let context {
            Unmanaged<Exchanger>.fromOpaque(context).takeRetainedValue().work()
          }
          return nil
        }, context)
    }
    if code != 0 { throw Errno(rawValue: code) }
  }

  private var folders: (HeldFolder, HeldFolder)? {
    guard let above = HeldFolder(a.removingLastComponent()),
      let beside = HeldFolder(b.removingLastComponent())
    else { return nil }
    return (above, beside)
  }

  private func work() {
    guard let a = a.name, let b = b.name, let (above, beside) = folders else { return }
    while !isStopped.load(ordering: .relaxed) { _ = try? above.exchange(a, with: beside, b) }
  }

  func stop() {
    isStopped.store(true, ordering: .relaxed)
    _ = thread.withLock { pthread_join($0, nil) }
  }
}
