import Core
import SystemPackage

/// Small JSON files of ours in an output folder that are no artifacts: `DIR/.scanmill/NAME` and
/// `DIR/<capture-id>/.scanmill/NAME`. No link is followed below the output folder.
public enum NotesFile {

  /// `nil` when it is absent, damaged or no file.
  public static func read<Value: Decodable>(
    _ type: Value.Type, _ name: String, of layout: OutputLayout
  ) -> Value? {
    read(type, layout.notes.appending(name), below: layout.root)
  }

  /// Reads a note of an output that is held open.
  public static func read<Value: Decodable>(
    _ type: Value.Type, _ name: String, of open: OpenOutput
  ) -> Value? {
    open.note(name).flatMap { try? Value(json: $0) }
  }

  /// Reads a note of the output folder as a whole.
  public static func read<Value: Decodable>(
    _ type: Value.Type, _ name: String, ofOutput root: FilePath
  ) -> Value? {
    read(type, root.appending(OutputNames.notes).appending(name), below: root)
  }

  private static func read<Value: Decodable>(
    _ type: Value.Type, _ path: FilePath, below root: FilePath
  ) -> Value? {
    HeldFolder.contents(of: path, below: root).flatMap {
      try? Value(json: $0)
    }
  }

  /// Replaces a note of the output folder in one step; its folder is made where it is absent.
  public static func write(_ bytes: [UInt8], _ name: String, ofOutput root: FilePath)
    throws(FileError)
  {
    EnclosedPaths.enclose(root, links: .none)
    try HeldFolder.making(following: root).makeFolder(OutputNames.notes).replace(name, with: bytes)
  }

  /// Replaces a note of a capture that has an output folder; throws where it has none.
  public static func write(_ bytes: [UInt8], _ name: String, of layout: OutputLayout)
    throws(FileError)
  {
    guard let output = try CaptureOutput(existing: layout) else {
      throw FileError(.noSuchFileOrDirectory, path: layout.notes, operation: "write")
    }
    try output.notes.replace(name, with: bytes)
  }

  /// Removes a note of a capture. Failing to is not reported. Cost where there is none: a system call.
  public static func remove(_ name: String, of layout: OutputLayout) {
    guard FileSystem.exists(layout.notes.appending(name)) else { return }
    try? CaptureOutput(existing: layout)?.notes.remove(name)
  }
}
