import Captures
import FoundationEssentials
import Engine
import Stages
import Core
import SystemPackage

/// The place of a contact sheet: never in a capture, and never over a file that `view` did not
/// write.
struct ViewTarget {
  /// Candidate paths in order of preference.
  private let places: [FilePath]
  private let isAsked: Bool

  /// Whether the name has a JPEG extension; `nil` if it is neither PNG nor JPEG.
  static func isJPEG(_ file: String) -> Bool? {
    switch FilePath(text: file).extension?.lowercased() {
    case "png": false
    case "jpg", "jpeg": true
    default: nil
    }
  }

  /// - Parameters:
  ///   - output: the path from the user, if any.
  ///   - name: the beginning of the default name.
  ///   - folder: a folder in which the picture must not be placed by default.
  init(_ output: String?, named name: String, apartFrom folder: FilePath?) throws {
    if let output {
      let file = FilePath(text: output)
      let around = file.removingLastComponent()
      if let capture = OutputOverlap.capture(
        around: around.isEmpty ? "." : around, Toolbox.captures)
      {
        throw CommandFailure(
          code: ExitStatus.usage,
          text:
            "--output \(file.shown) lies in the capture \(capture.shown): nothing is written into "
            + "captures; choose another folder")
      }
      (places, isAsked) = ([file], true)
      return
    }
    let current = try FileSystem.absolute(".")
    let resolved = PathSafety.resolved(current) ?? current
    let mayStay =
      OutputOverlap.capture(around: resolved, Toolbox.captures) == nil
      && !(folder.map { resolved.starts(with: $0) } ?? false)
    let temporary = FilePath(
      text: ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 }
        ?? "/tmp")
    // If a name belongs to a foreign file, a number is added.
    let names = ["\(name).view.png"] + (2...99).map { "\(name).view-\($0).png" }
    places = ((mayStay ? [FilePath("")] : []) + [temporary]).flatMap { folder in
      names.map { folder.appending(name: $0) }
    }
    isAsked = false
  }

  /// Writes the file and returns its path.
  func write(_ file: [UInt8]) throws -> FilePath {
    var last: FileError?
    var skipped: FilePath?
    for place in places {
      let around = place.removingLastComponent()
      if around == skipped { continue }
      guard let name = place.name else { continue }
      do throws(FileError) {
        EnclosedPaths.leaveOpen(around)
        let folder = try HeldFolder.following(around.isEmpty ? "." : around)
        if try isForeign(name, in: folder) {
          last = FileError(
            kind: .notOurs, path: place, operation: "write",
            reason: "exists and was not written by 'scanmill view'",
            remedy: "name another file with --output, or remove it")
          continue
        }
        try folder.replace(name, with: file, durably: false)
        return place
      } catch {
        last = error
        // Other names in this folder would fail too.
        skipped = around
      }
    }
    let text = last?.description ?? "there is no place for the picture"
    throw CommandFailure(
      code: last.map { FailureClassifier.exitCode(ofOutput: $0) } ?? ExitStatus.cannotWrite,
      text: text)
  }

  /// Whether a file with this name exists that `view` did not write. Links and folders are refused
  /// later.
  private func isForeign(_ name: String, in folder: HeldFolder) throws(FileError) -> Bool {
    guard let present = try folder.entry(name) else { return false }
    guard present.kind == .file else { return true }
    let largest = 1 << 28
    do throws(FileError) {
      return !DrawnSheet.isOurs(try folder.contents(of: name, limit: largest) ?? [])
    } catch {
      return true
    }
  }
}
