import Core

/// What an entry was made from, as it was.
///
/// Looks of different cost: `records` and `outputs` tell by names, sizes, times of modification and
/// permissions, at one system call per file, that nothing has been touched, also after a backup was restored;
/// `content` tells of an output that was copied without its times that it holds the same.
package struct EntryStamps: Hashable, Sendable {
  /// Of notes and records of the output, of the folders with published files, and of the files of the capture.
  var records: Digest
  /// Of all published files.
  package var outputs: Digest
  /// Of notes, records and files of the capture by what is in them, of published files by name and size.
  /// `nil`: it is not known without reading much.
  package var content: Digest?
  /// Which places the others are of.
  var places: Digest
  /// That nothing was touched is told quicker by this one; `nil`: it cannot be given.
  var proof: UntouchedProof?
}
