import Core

/// What an entry was made from, as it was.
///
/// Looks of different cost: `records` and `outputs` tell by names, sizes, times of modification and
/// permissions, at one system call per file, that nothing has been touched, also after a backup was restored;
/// `content` tells of an output that was copied without its times that it holds the same.
package struct EntryStamps: Hashable, Sendable {
  /// Digest of notes and records of the output, of the folders with published files, and of the files of the capture.
  var records: Digest
  /// Digest of all published files.
  package var outputs: Digest
  /// Digest of notes, records and files of the capture by what is in them, of published files by name and size. `nil`:
  /// it is not known without reading much.
  package var content: Digest?
  /// Which places the others are of.
  var places: Digest
  /// Proof that nothing was touched, which is quicker to check; `nil`: it cannot be given.
  var proof: UntouchedProof?
}
