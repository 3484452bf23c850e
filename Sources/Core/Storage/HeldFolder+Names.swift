import CPlatform

extension HeldFolder {
  /// Whether the file system is known to change the times of a folder with every name that is added, removed or
  /// replaced in it, at once and for every process. Not so where another machine keeps the folder (its times are
  /// remembered for a while), where folders have no times of their own (object stores), or where this is not known.
  ///
  /// Cost: one system call.
  public var tellsOfNames: Bool {
    if let answer = Self.answerOfNames { return answer }
    return Self.localTypes.contains(scanmill_file_system_type(descriptor))
  }

  /// For tests: what every file system is.
  @TaskLocal static var answerOfNames: Bool?

  /// From `linux/magic.h`, and of ZFS and bcachefs their own: ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS,
  /// bcachefs.
  private static let localTypes: Set<Int64> = [
    0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1,
    0xCA45_1A4E,
  ]

  /// The status of a path in the form of the file system, relative to this folder unless it is whole. Links are
  /// followed except at the end. `nil` if it does not exist, or cannot be looked at.
  func status(ofRaw path: UnsafePointer<CChar>) -> FileStatus? {
    try? FileStatus(path, in: descriptor)
  }
}
