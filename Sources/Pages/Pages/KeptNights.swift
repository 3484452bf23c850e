import Core
import Engine
import SystemPackage

/// The pages of nights that stay: `DIR/nights/2026-11-23.html`, the local day on which a night began. That of this
/// night is written with every page, so that it is there when the next night begins.
struct KeptNights {
  static let folderName = "nights"

  private let output: HeldFolder
  private let tonight: String

  /// `nil`: the report does not say when it begins.
  init?(_ output: HeldFolder, _ report: NightReport) {
    guard let from = UTCText.nanoseconds(report.from) else { return nil }
    self.output = output
    tonight = NightClock.night(of: from)
  }

  /// Dates of the nights before this one of which there is a page, the newest first.
  func earlier(_ most: Int) -> [String] {
    guard most > 0, let folder = try? folder() else { return [] }
    return Array(dates(folder).filter { $0 < tonight }.prefix(most))
  }

  /// The newest first. A name that is no date is not ours.
  private func dates(_ folder: HeldFolder) -> [String] {
    ((try? folder.list()) ?? []).compactMap { entry -> String? in
      guard entry.kind == .file, entry.name.hasSuffix(".html") else { return nil }
      let date = String(entry.name.dropLast(5))
      return date.utf8.count == 10 && CalendarDay(date) != nil ? date : nil
    }.sorted(by: >)
  }

  /// `nil`: there is none. Throws where it holds the results of a capture.
  private func folder() throws -> HeldFolder? {
    guard let folder = try output.folder(Self.folderName) else { return nil }
    guard try !folder.names().contains(OutputNames.notes) else {
      throw FileError.notOurs(
        folder.path, "holds something other than pages of nights",
        remedy: "move it away, or keep no nights (--keep-nights 0)")
    }
    return folder
  }

  /// Where a kept page has its link to the next night, once there is one.
  static let nextPlace = Tag.p(.id("next-night")) { Markup.nothing }

  private static let mostBytes = 16 << 20

  /// Lets the page of the night before this one have a link to it. A page that cannot be read or written stays as it
  /// is.
  private func link(in folder: HeldFolder) {
    guard let earlier = dates(folder).first(where: { $0 < tonight }),
      (try? PageFile.check("\(earlier).html", in: folder)) != nil,
      let page = (try? folder.contents(of: "\(earlier).html", limit: Self.mostBytes)).flatMap(
        \.self),
      let place = page.firstRange(of: Self.nextPlace.bytes)
    else { return }
    let link = Tag.p(.id("next-night")) {
      Tag.a(.link(.file(["\(tonight).html"]))) { "The next night, \(tonight)" }
    }
    var linked = page
    linked.replaceSubrange(place, with: link.bytes)
    try? PageFile.write(linked, as: "\(earlier).html", in: folder)
  }

  /// Writes the page of this night, and removes our pages of the oldest ones beyond `most`.
  func write(_ page: [UInt8], most: Int) throws {
    let folder = try folder() ?? output.makeFolder(Self.folderName)
    if try folder.entry("\(tonight).html") == nil { link(in: folder) }
    try PageFile.write(page, as: "\(tonight).html", in: folder)
    for date in dates(folder).dropFirst(most) {
      // A file that is not one of these pages is not removed.
      guard (try? PageFile.check("\(date).html", in: folder)) != nil else { continue }
      try folder.remove("\(date).html")
    }
  }
}
