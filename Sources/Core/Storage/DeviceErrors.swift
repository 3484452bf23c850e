import Synchronization
import SystemPackage

/// Files that could not be opened, looked at, listed or read because a disk, a network or the
/// machine failed, not because of what they are.
///
/// This module notes every such error, also where the caller takes a file that cannot be looked at
/// for an absent one. Whoever makes something of many files asks afterwards whether any of them
/// could not be read: what was made without it is not to be believed. The state is global on
/// purpose, for the reason given at `EnclosedPaths`: readers and codecs pass paths, and many of
/// them can do without a file.
///
/// Memory: the last errors, at most 1,024. Cost where nothing fails: nothing.
public enum DeviceErrors {
  /// A moment in the sequence of errors of this process.
  public typealias Mark = Int

  private struct State {
    var noted: [(number: Int, error: FileError)] = []
    var next = 0
  }

  private static let state = Mutex(State())
  private static let mostErrors = 1_024

  /// Now.
  public static var mark: Mark { state.withLock { $0.next } }

  /// What was noted since `mark` about `path`, what lies below it, and folders above it, oldest
  /// first. The newest of several about one path counts.
  public static func since(_ mark: Mark, at path: FilePath) -> [FileError] {
    state.withLock { state in
      state.noted.filter {
        $0.number >= mark && ($0.error.path.starts(with: path) || path.starts(with: $0.error.path))
      }.map(\.error)
    }
  }

  /// Notes an error of a device. Other errors are not noted.
  static func note(_ error: FileError) {
    guard error.isOfMachine, !error.isWriting, !isOfKind(error) else { return }
    state.withLock { state in
      state.noted.removeAll { $0.error.path == error.path }
      if state.noted.count >= mostErrors { state.noted.removeFirst(mostErrors / 2) }
      state.noted.append((state.next, error))
      state.next += 1
    }
  }

  /// Notes the number that a call has left in `errno`.
  static func note(_ number: Errno, _ path: @autoclosure () -> FilePath, _ operation: String) {
    // The error notes itself.
    if FileError.numbersOfMachine.contains(number) {
      _ = FileError(number, path: path(), operation: operation)
    }
  }

  /// Notes an error of a read call of another module, and returns its number; `nil` if it is not one of the machine.
  public static func number(of error: any Error, at path: FilePath) -> Errno? {
    guard let number = error as? Errno, FileError.numbersOfMachine.contains(number) else {
      return nil
    }
    note(number, path, "read")
    return number
  }

  /// Opening a socket gives the error number of a device that is gone.
  private static func isOfKind(_ error: FileError) -> Bool {
    error.code == .noSuchAddressOrDevice
      && (try? FileStatus(followingAllLinksOf: error.path))?.kind == .other
  }
}
