import Core
import SystemPackage

/// What can be short, told before it does harm: a file that cannot be opened for want of a descriptor
/// must never look like one that is not there.
enum ResourceExhaustion {
  /// No thread can be had.
  static var ofThreads: FileError {
    FileError(.resourceTemporarilyUnavailable, path: "thread", operation: "make")
  }

  /// What a worker has open besides what its helpers read and write.
  private static let descriptorsOfWorker = 40
  /// What a helper has open at a time: the file that it writes, and one that it reads.
  private static let descriptorsOfHelper = 3

  static func descriptors(forCores cores: Int) -> Int {
    descriptorsOfWorker + descriptorsOfHelper * max(1, cores)
  }

  /// Throws when so few descriptors can be opened that the work on a capture would come to want.
  static func checkDescriptors(forCores cores: Int) throws(FileError) {
    let needed = descriptors(forCores: cores)
    var taken: [FileDescriptor] = []
    defer { for descriptor in taken { try? descriptor.close() } }
    do {
      for _ in 0..<needed {
        taken.append(
          try FileDescriptor.open("/dev/null", .readOnly, options: .closeOnExec))
      }
    } catch let error as Errno where error != .noSuchFileOrDirectory {
      var short = FileError(error, path: "descriptors", operation: "make")
      short.reason += ": \(needed) are needed at the same time, \(taken.count) are free"
      throw short
    } catch {
      return
    }
  }
}
