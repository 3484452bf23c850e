import Core
import Glibc
import Synchronization
import SystemPackage

/// Hears from the kernel (inotify) that something changed in one of many folders. Only that: what changed
/// is found by looking. Network file systems tell nothing, a queue may overflow, folders above the limit
/// are not watched: whoever uses this looks by itself from time to time as well.
///
/// Memory and descriptors: one descriptor, one entry per folder, nothing per event. For one thread.
final class INotifyWatcher {
  private let descriptor: Int32
  private let mostWatches: Int
  private var numbers: [FilePath: Int32] = [:]
  /// Several paths may lead to one folder, which the kernel then watches once.
  private var paths: [Int32: Set<FilePath>] = [:]
  /// Something changed that `wait` has not told yet.
  private var isPending = false
  /// Events were lost, among them perhaps those of folders that went.
  private var isDoubtful = false

  /// Whether the last `wait` heard of a change in a folder, whatever else ended it.
  private(set) var hasChanged = false

  /// Why not all folders are watched; `nil`: all are. Stays once it is said.
  private(set) var limit: String?

  /// Writing is told when a file is closed, not with every block: files that grow are seen by looking.
  private static let mask = UInt32(
    IN_CREATE | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
      | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)

  /// `nil` where inotify is not to be had: no kernel support, or no instance left for this user.
  init?(mostWatches: Int = 8192) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    self.mostWatches = mostWatches
  }

  deinit { close(descriptor) }

  /// How many folders are watched.
  var count: Int { numbers.count }

  // MARK: Folders

  /// From now on these folders are watched and no others. One that is not there is left out: it is watched
  /// once it is there at a later call. Cost: a system call per folder that comes or goes.
  func watch(_ folders: Set<FilePath>) {
    // Folders that went and came again are other folders.
    drain()
    if isDoubtful {
      isDoubtful = false
      for path in Array(numbers.keys) { renew(path) }
    }
    for path in Array(numbers.keys) where !folders.contains(path) { forget(path) }
    // Parents are watched before their subfolders, so that new folders are not missed.
    let missing = folders.filter { numbers[$0] == nil }
      .map { (depth: $0.components.count, path: $0) }.sorted { $0.depth < $1.depth }
    for (_, path) in missing {
      guard numbers.count < mostWatches else {
        say("only \(mostWatches) of \(folders.count) folders can be watched")
        return
      }
      if let code = add(path), code == ENOSPC || code == ENOMEM {
        say(
          "the kernel watches no more than \(numbers.count) of \(folders.count) folders "
            + "(sysctl fs.inotify.max_user_watches)")
        return
      }
    }
  }

  private func say(_ reason: String) {
    if limit == nil { limit = reason + "; changes in the others are noticed at the next look" }
  }

  /// `nil` where it worked, else why not.
  private func add(_ path: FilePath) -> Int32? {
    let number = watched(path)
    guard number >= 0 else { return errno }
    numbers[path] = number
    paths[number, default: []].insert(path)
    return nil
  }

  /// The kernel's number of the watch; -1 and `errno`.
  private func watched(_ path: FilePath) -> Int32 {
    EnclosedPaths.withFolder(path) { inotify_add_watch(descriptor, $0, Self.mask) }
  }

  private func forget(_ path: FilePath) {
    guard let number = numbers.removeValue(forKey: path) else { return }
    paths[number]?.remove(path)
    guard paths[number]?.isEmpty == true else { return }
    paths[number] = nil
    inotify_rm_watch(descriptor, number)
  }

  /// Lets a path lead to what is there now.
  private func renew(_ path: FilePath) {
    let before = numbers[path]
    let now = watched(path)
    guard now != before || now < 0 else { return }
    forget(path)
    guard now >= 0 else { return }
    numbers[path] = now
    paths[now, default: []].insert(path)
  }

  // MARK: Waiting

  /// Waits until something changed in a folder, `other` can be read (or has ended), a signal came, or the
  /// time is over. `true` in the first two cases. Whatever changed until then is told by this one answer.
  func wait(seconds: Double, orReadable other: Int32?) -> Bool {
    var places = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
    if let other { places.append(pollfd(fd: other, events: Int16(POLLIN), revents: 0)) }
    let most = seconds.isNaN ? 0 : min(max(seconds, 0), 86400)
    // Rounded up: a wait of less than a millisecond must not become a busy loop.
    let milliseconds = isPending ? 0 : Int32((most * 1000).rounded(.up))
    let count = poll(&places, nfds_t(places.count), milliseconds)
    let hasOther =
      count > 0 && places.count > 1 && places[1].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0
    drain()
    (hasChanged, isPending) = (isPending, false)
    return hasChanged || hasOther
  }

  /// Takes what is in the queue. In a storm of events only so many; the rest comes with the next call.
  private func drain() {
    for _ in 0..<64 {
      let more = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 8) { buffer in
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        return true
      }
      guard more else { return }
    }
  }

  private func take(_ events: UnsafeRawBufferPointer) {
    // struct inotify_event: watch, mask, cookie, length of the name that follows.
    let head = 16
    var offset = 0
    while offset + head <= events.count {
      let number = events.loadUnaligned(fromByteOffset: offset, as: Int32.self)
      let mask = events.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
      offset += head + Int(events.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
      if mask & UInt32(IN_Q_OVERFLOW) != 0 {
        (isPending, isDoubtful) = (true, true)
        continue
      }
      // Events of a folder that is no longer asked for include what the kernel says to that.
      guard let known = paths[number] else { continue }
      isPending = true
      // Unmounting and deleting end with IN_IGNORED as well.
      if mask & UInt32(IN_IGNORED) != 0 {
        paths[number] = nil
        for path in known { numbers[path] = nil }
      } else if mask & UInt32(IN_MOVE_SELF) != 0 {
        for path in known { forget(path) }
      }
    }
  }
}

/// Wakes the watcher's thread from others, and tells it what they ask of it.
public final class WatcherHandle: Sendable {
  private let pipe: Pipe
  private let isReloading = Mutex(false)

  init() throws(FileError) {
    pipe = try Pipe()
    for end in [pipe.reading, pipe.writing] {
      _ = fcntl(end.rawValue, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    try? pipe.reading.close()
    try? pipe.writing.close()
  }

  var descriptor: Int32 { pipe.reading.rawValue }

  /// To look whether something has changed, or whether everything is to end.
  public func wake() {
    var byte: UInt8 = 1
    // A full pipe wakes as well.
    _ = write(pipe.writing.rawValue, &byte, 1)
  }

  /// To read the pipeline again.
  public func reload() {
    isReloading.withLock { $0 = true }
    wake()
  }

  func takeReload() -> Bool {
    isReloading.withLock { flag in
      defer { flag = false }
      return flag
    }
  }

  func drain() {
    var bytes = [UInt8](repeating: 0, count: 512)
    while read(pipe.reading.rawValue, &bytes, bytes.count) > 0 {}
  }

  /// Waits at most so long for a call from another thread.
  func wait(seconds: Double) {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&request, 1, Int32((min(max(seconds, 0), 3600) * 1000).rounded(.up)))
    drain()
  }
}
