import Core
import Engine

/// The totals of the night, as in the JSON. Numbers that are hard to read are there for scripts only; people see the
/// words of `style` in their place.
struct NightTotalsSection {
  let totals: NightTotals

  /// Key in the JSON, text, value in the JSON, and value as text.
  private var entries: [(key: String, words: String, value: String, said: String?)] {
    func count(_ key: String, _ words: String, _ value: Int) -> (String, String, String, String?) {
      (key, words, "\(value)", nil)
    }
    var entries = [
      count("captures", "Captures", totals.captures), count("done", "Done", totals.done),
      count("doneWithWarnings", "Done with warnings", totals.doneWithWarnings),
      count("failed", "Failed", totals.failed),
      count("quarantined", "Quarantined", totals.quarantined),
      count("incomplete", "Incomplete", totals.incomplete),
      count("arriving", "Arriving", totals.arriving),
      count("stalledUpload", "Stalled uploads", totals.stalledUpload),
      count("queued", "Queued", totals.queued),
      count("running", "Running", totals.running), count("skipped", "Skipped", totals.skipped),
      count("interrupted", "Interrupted", totals.interrupted),
    ]
    for (key, words, value) in [
      ("withShortfall", "With a shortfall", totals.withShortfall),
      ("withMissingFiles", "Without all files", totals.withMissingFiles),
      ("disappeared", "Disappeared", totals.disappeared), ("poor", "Poor quality", totals.poor),
    ] {
      if let value { entries.append(count(key, words, value)) }
    }
    entries += [
      count("needPerson", "Need a person", totals.needPerson),
      count("unrecognized", "Folders not recognized", totals.unrecognized),
      (
        "frames", "Frames", "\(totals.frames)",
        totals.frames < 1000 ? nil : FigureText.count(totals.frames)
      ),
      (
        "bytesWritten", "Written", "\(totals.bytesWritten)",
        ByteCount.text(totals.bytesWritten)
      ),
      (
        "cpuSeconds", "CPU time", Phrasing.number(totals.cpuSeconds),
        DurationText.measured(totals.cpuSeconds)
      ),
      (
        "wallSeconds", "Time of runs", Phrasing.number(totals.wallSeconds),
        DurationText.measured(totals.wallSeconds)
      ),
    ]
    return entries
  }

  var markup: Markup {
    .element(.section, Attribute("aria-labelledby", "totals-title")) {
      Markup.element(.h2, .id("totals-title")) { "Totals" }
      Markup.element(.dl, .id("totals"), .classes("facts")) {
        for entry in entries {
          Markup.element(.dt) { entry.words }
          Markup.element(.dd, Attribute("data-total", entry.key)) { entry.value }
          if let said = entry.said { Markup.element(.dd, .classes("said")) { said } }
        }
      }
    }
  }
}
