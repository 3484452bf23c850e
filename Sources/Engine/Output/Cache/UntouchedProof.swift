import Core

/// What lay at every place that an entry was made from, so that a later look tells by one system call per file that
/// the entry would be read the same again. It proves that nothing was touched; where it does not, `EntryStamps` tell
/// whether that matters.
package struct UntouchedProof: Hashable, Sendable {
  /// Stamps of notes and records of the output, of the folders with published files, and of the files of the capture.
  var records: PathStamps
  /// Stamps of published files; `nil`: there are too many to be noted, or they are not looked at one by one.
  package var outputs: PathStamps?
  /// Whether a person has decided something about the capture.
  var isMarked: Bool

  /// Whether everything but published files is as it was. With it is proven that no run works on the capture: who
  /// takes its lock writes into it.
  ///
  /// - Parameter root: of the output.
  func holds(in root: HeldFolder) -> Bool { records.areCurrent(in: root) }
}
