import Core

/// Formats the lines of the live display for a given width.
enum ProgressLines {
  /// A line per capture that has worked for more than two seconds, as many as fit, and one for all.
  static func live(
    _ board: ProgressBoard, atSeconds now: Double, _ size: TerminalSize,
    name: (String) -> String
  ) -> [String] {
    // The frames of a run on a batch system are known only when they are done.
    if let clusterState = board.clusterState { return [clusterState.onOneLine] }
    let shown = board.working.filter { now - $0.startSeconds > 2 && !$0.stages.isEmpty }
    guard !shown.isEmpty else { return [] }
    let all = board.hasSeveral
    // One row is for the line of totals, and one for the cursor of the next permanent line.
    let most = max(1, size.rows - (all ? 2 : 1))
    let names = shown.prefix(most).map { all ? name($0.capture).onOneLine : "" }
    let nameColumns = min(
      names.map { TextWidth.columns($0) }.max() ?? 0, max(8, size.columns / 3))
    var lines = zip(shown, names).map { progress, name in
      let head = all ? TextWidth.fit(name, to: nameColumns) + " " : "  "
      return head
        + text(progress, columns: size.columns - TextWidth.columns(head), isAlone: !all)
    }
    if all {
      let more = shown.count > most ? " · \(shown.count - most) more at work" : ""
      let text = overall(board, atSeconds: now) + more
      // The remaining time is more useful than the rate.
      let fits = TextWidth.columns(text) <= TerminalLines.lastColumns(size)
      lines.append(fits ? text : overall(board, atSeconds: now, hasRate: false) + more)
    }
    return lines
  }

  /// `[====>     ]  52 %  aligned 25/70, 2.7 frames/s · depth 33/70`; without the bar if the width
  /// is too small.
  ///
  /// - Parameter isAlone: whether to include the remaining time, because there is no line for all
  ///   captures.
  static func text(_ progress: CaptureProgress, columns: Int, isAlone: Bool) -> String {
    var parts: [String] = []
    let percent = Int((progress.fraction * 100).rounded(.down))
    if columns >= 44 {
      parts.append("[\(bar(progress.fraction, columns: columns >= 64 ? 16 : 8))]")
    }
    parts.append((percent < 10 ? "  " : percent < 100 ? " " : "") + "\(percent) %")
    let stages = progress.stagesByWork.enumerated().map { place, stage in
      var text = stage.name
      if stage.rate.done > 0 || stage.rate.total != nil {
        text += " \(stage.rate.done)" + (stage.rate.total.map { "/\($0)" } ?? "")
      }
      if place == 0, let rate = stage.rate.framesPerSecond {
        text += ", \(NumberText.short(rate)) frames/s"
        if isAlone, let left = stage.rate.secondsLeft {
          text += ", \(DurationText.text(left)) left"
        }
      }
      return text
    }
    parts.append(stages.joined(separator: " · "))
    return parts.joined(separator: " ")
  }

  private static func bar(_ fraction: Double, columns: Int) -> String {
    let done = Int((fraction * Double(columns)).rounded(.down))
    let head = done < columns && done > 0 ? ">" : ""
    return String(repeating: "=", count: done - head.count) + head
      + String(repeating: " ", count: columns - done)
  }

  /// `3/700 captures, 1 failed · 2 min 05 s, 66.0 frames/s · 1 h 12 min left`
  static func overall(
    _ board: ProgressBoard, atSeconds now: Double, hasRate: Bool = true
  ) -> String {
    var text = "\(board.ended)/\(board.total) captures"
    if board.failed > 0 { text += ", \(board.failed) failed" }
    text += " · " + DurationText.text(board.elapsedSeconds(at: now).rounded(.down))
    if hasRate, let rate = board.framesPerSecond(at: now) {
      text += ", \(NumberText.short(rate)) frames/s"
    }
    if let left = board.secondsLeft(at: now) { text += " · \(DurationText.text(left)) left" }
    return text
  }

  /// The line per minute of a run without a terminal.
  static func plain(
    _ board: ProgressBoard, atSeconds now: Double, name: (String) -> String
  ) -> String? {
    if let clusterState = board.clusterState { return clusterState.onOneLine }
    let shown = board.working.filter { !$0.stages.isEmpty }
    guard !shown.isEmpty else { return nil }
    guard board.hasSeveral else {
      return "  " + text(shown[0], columns: 0, isAlone: true).drop { $0 == " " }
    }
    let most = 4
    var names = shown.prefix(most).map {
      "\(name($0.capture).onOneLine) \(Int(($0.fraction * 100).rounded(.down))) %"
    }
    if shown.count > most { names.append("\(shown.count - most) more") }
    return overall(board, atSeconds: now) + " · at work: " + names.joined(separator: ", ")
  }
}
