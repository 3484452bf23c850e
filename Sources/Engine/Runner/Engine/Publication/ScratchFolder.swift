import Core
import SystemPackage

/// Where intermediates of one capture lie while a run with a scratch folder is at work on it:
/// `SCRATCH/scanmill-ATTEMPT/CAPTURE/STAGE`, on a disk of the machine's own, so that a shared disk need not
/// take files that are not kept.
///
/// It has the form of an output and is written in the same steps. What it holds is gone when the capture
/// is done: of each intermediate the record stays in the output, as after every removal.
struct ScratchFolder {
  let output: CaptureOutput

  /// Empty; `nil` without a scratch folder.
  init?(_ options: RunOptions, run: String, capture: String) throws(FileError) {
    guard let root = Self.root(options, run: run) else { return nil }
    Self.clear(options, run: run, capture: capture)
    output = try CaptureOutput(making: OutputLayout(root: root, name: capture))
  }

  /// Whether the artifact of a stage goes there: it is not kept, and no kept artifact takes files of it
  /// over without copying them, as exports do with copies of color.
  static func takes(_ stage: StageDefinition) -> Bool {
    !stage.keep && !stage.isOfSubset && !stage.kind.content(stage.parameters).isCopyOfColor
  }

  /// Removes what is left of a capture. Failing to is left to `end`.
  static func clear(_ options: RunOptions, run: String, capture: String) {
    guard let root = root(options, run: run), FileSystem.isFolder(root) else { return }
    try? HeldFolder.following(root).remove(capture)
  }

  /// Removes all that is left once a run works on no capture any more.
  static func end(_ options: RunOptions, run: String) {
    guard let root = root(options, run: run), FileSystem.isFolder(root),
      let name = root.lastComponent?.string
    else { return }
    try? HeldFolder.following(root.removingLastComponent()).remove(name)
  }

  /// A folder of this attempt alone: whatever lies in it is ours.
  private static func root(_ options: RunOptions, run: String) -> FilePath? {
    options.scratch?.appending("scanmill-\(options.attempt(of: run))")
  }
}
