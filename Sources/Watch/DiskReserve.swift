import Engine
import Core
import Synchronization
import SystemPackage

/// Space on the disk of the output for the next page, notes and notification: a file that is given up when the disk is
/// full, and taken again when there is space.
///
/// Asked from the watcher's thread and from the one that writes pages. While one of them uses the space it is not taken
/// back. Others that write to a full disk may get there first; that is why captures are not started then.
final class DiskReserve: Sendable {
  private struct State {
    /// Size of the file.
    var held: Int64 = 0
    var users = 0
    var wanted: Int64 = 0
    /// When `wanted` was last found out, on the monotonic clock.
    var measuredSeconds = -Double.infinity
  }

  private let output: FilePath
  private let state = Mutex(State())

  /// Bytes for what grows since the last page.
  static let marginBytes: Int64 = 4 << 20
  static let mostBytes: Int64 = 64 << 20
  /// Less space is not worth taking.
  private static let leastBytes: Int64 = 64 << 10
  /// Between two looks at how large pages and notes are.
  private static let measureSeconds = 10.0

  init(output: FilePath) {
    self.output = output
  }

  /// How much is held: all files twice, as the old one stays until the new one is written, and a margin. No more than
  /// a sixteenth of the disk. Pure.
  static func wantedBytes(files: Int64, totalBytes: Int64) -> Int64 {
    min(2 * min(files, mostBytes) + marginBytes, mostBytes, totalBytes / 16)
  }

  /// Bytes held.
  var heldBytes: Int64 { state.withLock { $0.held } }

  /// Takes what is wanted, or as much of it as is free. Whether anything was taken. Cost: none while all of it is held,
  /// else some system calls.
  func take(of free: FreeSpaceRule, nowSeconds: Double) -> Bool {
    state.withLock { state in
      guard state.users == 0 else { return false }
      if nowSeconds - state.measuredSeconds >= Self.measureSeconds {
        state.wanted = Self.wantedBytes(files: filesBytes, totalBytes: free.totalBytes)
        state.measuredSeconds = nowSeconds
      }
      var more = min(state.wanted - state.held, free.bytes)
      while more >= Self.leastBytes {
        do throws(FileError) {
          try folder?.allocate(state.held + more, as: OutputNames.reserve)
          state.held += more
          return true
        } catch {
          // What a file system needs beside is not known.
          guard error.kind == .noSpace else { return false }
          remove(&state)
          more /= 2
        }
      }
      return false
    }
  }

  /// Does what writes, and once more with the space of the reserve where the disk was full. Throws what it throws then.
  func writing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as FileError where error.kind == .noSpace {
      guard begin() else { throw error }
      defer { end() }
      return try body()
    }
  }

  /// Does something with the space of the reserve, after it failed for the disk was full. `nil`: there is none.
  func using<Result>(_ body: () -> Result) -> Result? {
    guard begin() else { return nil }
    defer { end() }
    return body()
  }

  /// The watcher ends: it is given up by no process.
  func giveUp() { state.withLock { remove(&$0) } }

  private func begin() -> Bool {
    state.withLock { state in
      guard state.held > 0 || state.users > 0 else { return false }
      remove(&state)
      state.users += 1
      return true
    }
  }

  private func end() { state.withLock { $0.users -= 1 } }

  private func remove(_ state: inout State) {
    try? folder?.remove(OutputNames.reserve)
    state.held = 0
  }

  private var folder: HeldFolder? {
    HeldFolder(output)?.below(OutputNames.notes)
  }

  /// What the next page and notes replace: the page of the night, that of it which is kept, the records of the watcher
  /// and the cache that answers are read from.
  private var filesBytes: Int64 {
    func bytes(_ folder: HeldFolder?, _ name: String) -> Int64 {
      folder?.stamp(of: name)?.bytes ?? 0
    }
    let (root, notes) = (HeldFolder(output), folder)
    return 2 * bytes(root, "index.html")
      + [OutputNames.watch, OutputNames.firstSeen, OutputNames.catalog].reduce(0) {
        $0 + bytes(notes, $1)
      }
  }
}
