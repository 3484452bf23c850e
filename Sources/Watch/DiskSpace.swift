import Captures
import Core
import Engine
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

/// How much of the disk captures need: what they are expected to write, and what those for which the disk was too small
/// tell.
struct DiskNeeds {
  /// What a capture at work was expected to write, and what was free when it began.
  private struct Claim {
    var bytes: Int64
    var freeBytes: Int64
    /// Nearly the whole disk was.
    var hadAll: Bool
  }

  /// What a capture for which the disk was too small tells: as much per byte is needed, as far as it is known.
  private struct Lesson {
    var ratio: Double
    /// The time on the monotonic clock at which the capture is tried again all the same.
    var untilSeconds: Double
    /// Whether the capture had nearly all of the disk: what is free tells nothing of a quota that is used up.
    var hadAll: Bool
  }

  /// `nil`: nothing is known.
  var expected: RunNeeds?
  private var lessons: [String: Lesson] = [:]
  private var claims: [CaptureLocation: Claim] = [:]

  /// What a capture is expected to write; 0: not known.
  ///
  /// - Parameters:
  ///   - bytes: of its files.
  ///   - now: on the monotonic clock.
  func needed(family: String, bytes: Int64, atSeconds now: Double) -> Int64 {
    let known = expected?.knownBytes(family, ofBytes: bytes) ?? 0
    guard let lesson = lessons[family], now < lesson.untilSeconds else { return known }
    return max(known, Int64(min(lesson.ratio * Double(max(0, bytes)), 9e18)))
  }

  /// Whether the disk takes no more of this family for now, however much of it is free.
  func isSpent(family: String, atSeconds now: Double) -> Bool {
    lessons[family].map { $0.hadAll && now < $0.untilSeconds } ?? false
  }

  /// Whether so much may be begun, beside what is at work. What is at work counts in full, whatever of it is written
  /// already: near the end of a disk captures are processed one by one.
  func fits(_ needed: Int64, in free: FreeSpaceRule) -> Bool {
    let claimed = claims.values.reduce(Int64(0)) {
      $0.addingReportingOverflow($1.bytes).partialValue
    }
    return Self.usableBytes(free) - max(0, claimed) >= Self.atMost(needed, free)
  }

  /// Whether so much may be begun once nothing is at work.
  static func fitsAlone(_ needed: Int64, in free: FreeSpaceRule) -> Bool {
    usableBytes(free) >= atMost(needed, free)
  }

  private static func usableBytes(_ free: FreeSpaceRule) -> Int64 { free.bytes - kept(free) }

  /// Stages leave a hundredth of the disk, at most 64 MiB, whatever the reserve is.
  private static func kept(_ free: FreeSpaceRule) -> Int64 {
    max(free.neededBytes, min(free.totalBytes / 100, 64 << 20))
  }

  /// A capture that needs more than the whole disk is tried once nearly all of the disk is free.
  private static func atMost(_ needed: Int64, _ free: FreeSpaceRule) -> Int64 {
    min(needed, max(0, free.totalBytes - kept(free)) / 10 * 9)
  }

  mutating func begin(_ location: CaptureLocation, needed: Int64, in free: FreeSpaceRule?) {
    claims[location] = Claim(
      bytes: needed, freeBytes: free?.bytes ?? 0,
      hadAll: free.map { Self.fitsAlone(.max, in: $0) } ?? false)
  }

  mutating func end(_ location: CaptureLocation) { claims[location] = nil }

  /// Notes that a capture is done: what was learned from one for which the disk was too small is over.
  mutating func done(_ location: CaptureLocation, family: String) {
    claims[location] = nil
    lessons[family] = nil
  }

  /// The disk was too small for a capture: a quarter more is waited for than it had.
  mutating func ranOut(
    _ location: CaptureLocation, family: String, bytes: Int64, untilSeconds: Double
  ) {
    let atOnce = Int64(max(1, claims.count))
    guard let claim = claims.removeValue(forKey: location), bytes > 0 else { return }
    let had = max(claim.bytes, claim.freeBytes / atOnce)
    lessons[family] = Lesson(
      ratio: Double(had) * 1.25 / Double(bytes), untilSeconds: untilSeconds, hadAll: claim.hadAll)
  }
}

/// What is free on a file system.
struct FreeSpaceRule: Hashable {
  /// For this user: without what is kept for root.
  var bytes: Int64
  var totalBytes: Int64
  /// `nil`: the file system counts none.
  var inodes: Int64?
  var totalInodes: Int64?
  /// What stays free, as `--reserve` says; `nil`: 1 GiB or 2 % of the file system, whichever is less.
  var reserve: Int64?

  /// Free space of the file system that `path` lies on, or will lie on once it is made; `nil` where it cannot be told.
  static func free(of path: FilePath, reserve: Int64? = nil) -> FreeSpaceRule? {
    var place = path.isEmpty ? FilePath(".") : path
    while true {
      do throws(Errno) {
        let space = try FileSystemSpace(at: place)
        return FreeSpaceRule(
          bytes: space.freeBytes, totalBytes: space.totalBytes, inodes: space.freeFiles,
          totalInodes: space.totalFiles, reserve: reserve)
      } catch {
        guard error == .noSuchFileOrDirectory else { return nil }
      }
      // The folder does not exist yet: its nearest existing parent is measured.
      if place.components.isEmpty { return nil }
      place = place.removingLastComponent()
      if place.isEmpty { place = "." }
    }
  }

  /// What must be free before anything new is started, and stays free of what captures are expected to write.
  var neededBytes: Int64 { reserve ?? FileSystemSpace.usualReserve(ofTotal: totalBytes) }

  /// Files that must be free: a capture writes one per frame and kind. 10,000 or 2 %, whichever is less.
  var neededInodes: Int64 { min(10_000, (totalInodes ?? Int64.max) / 50) }

  /// Whether something new may be started.
  var isEnough: Bool {
    bytes >= neededBytes && (inodes.map { $0 >= max(1, neededInodes) } ?? true)
  }
}
