import Captures
import Core
import SystemPackage

/// Whether results would land in captures, or captures lie where results would go. Looked at before
/// anything is made; such an output is refused.
public struct OutputOverlap: Sendable, CustomStringConvertible {
  public let description: String

  /// How many folders above an output are looked at: as deep as captures are searched for.
  private static let levelsAbove = 6

  /// `nil` when `output` is a fine place for the results of `targets`.
  public init?(
    of output: FilePath, with targets: [CaptureTarget], registry: CaptureRegistry
  ) {
    let place = PathSafety.resolvedAsFarAsPossible(output)
    guard
      let why = Self.capture(around: place, targets)
        ?? Self.unasked(around: place, registry)
        ?? Self.capture(inResultsOf: targets, place)
        ?? Self.unasked(inResultsOf: targets, registry)
    else { return nil }
    description = why
  }

  /// Why a staging folder and an output do not go together; `nil`: they lie apart.
  public static func ofStaging(_ staging: FilePath, output: FilePath) -> String? {
    let staging = PathSafety.resolvedAsFarAsPossible(staging)
    let place = PathSafety.resolvedAsFarAsPossible(output)
    let how: String
    if place == staging || FileID(ofFolder: place).map({ $0 == FileID(ofFolder: staging) }) == true
    {
      how = "is the staging folder"
    } else if place.starts(with: staging) {
      how = "lies in the staging folder \(staging.shown)"
    } else if staging.starts(with: place) {
      how = "contains the staging folder \(staging.shown)"
    } else {
      return nil
    }
    return
      "--output \(output.shown) \(how): results and uploads must be kept apart; choose another folder"
  }

  /// The folder of the capture that a folder is, or lies in; `nil`: it lies in none.
  public static func capture(around folder: FilePath, _ registry: CaptureRegistry) -> FilePath? {
    var folder = PathSafety.resolvedAsFarAsPossible(folder)
    for _ in 0...levelsAbove {
      if let listing = try? FolderListing(of: folder) {
        let certain = registry.recognize(listing).filter { $0.certainty == .certain && !$0.isFile }
        if let whole = owner(certain) { return whole.folder }
      }
      guard folder.removeLastComponent() else { break }
    }
    return nil
  }

  /// A capture of this run that the output is, or lies in.
  private static func capture(around output: FilePath, _ targets: [CaptureTarget]) -> String? {
    let around = targets.filter {
      !$0.recognition.isFile && output.starts(with: $0.recognition.folder)
    }
    guard let whole = owner(around.map(\.recognition)) else { return nil }
    return text(output, whole.folder)
  }

  /// A capture that was not asked for.
  private static func unasked(around output: FilePath, _ registry: CaptureRegistry) -> String? {
    capture(around: output, registry).map { text(output, $0) }
  }

  /// The capture that has a folder to itself: one without a stem, or the only stem. A folder of several
  /// belongs to none of them, and captures that are one file each have no folder.
  private static func owner(_ captures: [Recognition]) -> Recognition? {
    if let whole = captures.first(where: { $0.stem == nil }) { return whole }
    let shelves = Dictionary(grouping: captures, by: \.folder)
    return shelves.values.first { $0.count == 1 }?.first
  }

  private static func text(_ output: FilePath, _ capture: FilePath) -> String {
    let how =
      output == capture ? "is the folder of a capture" : "lies in the capture \(capture.shown)"
    return "--output \(output.shown) \(how): results never go into captures; choose another folder"
  }

  /// A capture of this run that lies where results of this run would go.
  private static func capture(
    inResultsOf targets: [CaptureTarget], _ output: FilePath
  ) -> String? {
    let names = Set(targets.map(\.layout.name)).union(OutputName.reserved)
    for target in targets {
      let capture = target.recognition.path
      var inside = capture
      guard capture != output, inside.removePrefix(output), let first = inside.components.first
      else { continue }
      let name = first.withPlatformString { PathText.text(of: $0) }
      if names.contains(name) { return text(capture, in: output.appending(name: name)) }
    }
    return nil
  }

  /// A capture that was not asked for in a folder that is not ours and has the name of results.
  private static func unasked(
    inResultsOf targets: [CaptureTarget], _ registry: CaptureRegistry
  ) -> String? {
    for target in targets where target.refusal != nil && !FileSystem.isLink(target.layout.folder) {
      if let found = CaptureFinder(registry).find(target.layout.folder).captures.first {
        return text(found.path, in: target.layout.folder)
      }
    }
    return nil
  }

  private static func text(_ capture: FilePath, in results: FilePath) -> String {
    "the capture \(capture.shown) lies where results would go (\(results.shown)); choose another --output"
  }
}
