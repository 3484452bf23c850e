import Foundation
@testable import Core

/// Marks in the place of what differs from one run, one day and one machine to another.
enum GoldenMask {
  enum Extent { case volatile, figures }

  /// Yesterday, today and tomorrow: times of recordings are earlier, and stay.
  private static let days: String = {
    let days = [-86_400, 0, 86_400].map {
      UTCText.day(nanoseconds: Int64(Date().timeIntervalSince1970 + $0) * 1_000_000_000)
    }
    return "(\(days.joined(separator: "|")))"
  }()

  /// The order counts.
  private static let volatile: [(pattern: String, mark: String)] = [
    // Runs and moments.
    (#"[0-9]{8}T[0-9]{6}-[0-9]+-[0-9a-f]+-[0-9a-f]+"#, "RUN"),
    (days + #"T[0-9:]{8}(\.[0-9]+)?Z"#, "TIME"),
    (days, "DAY"),
    (#"\b[0-9]{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b"#, "DAY"),
    (#"(DAY )?(?<![:+T-])\b[0-2][0-9]:[0-5][0-9](:[0-5][0-9])?\b"#, "CLOCK"),
    // What was measured: in JSON, in a log, in a table behind the time of the run and two cells, in words.
    (
      #"("(seconds|cpuSeconds|framesPerSecond|peakMemoryBytes|memoryBytes|cores|inodes)" ?: ?)[-+.0-9e]+"#,
      "$1N"
    ),
    (#"(\bseconds=)[-+.0-9e]+"#, "$1N"),
    (#"(TIME,([^,\n"]|"[^"]*")*,([^,\n"]|"([^"]|"")*")*,)[-+.0-9e]+(?=,[0-9]*,)"#, "$1N"),
    (#"( · )[0-9.]+ (s|min)( [0-9]+ s)?\b"#, "$1DURATION"),
    (#"(?m) in [0-9]+ s$"#, ""),
    (#"(CLOCK to CLOCK, )[0-9]+ h"#, "$1DURATION"),
    // The same on pages, where times are drawn as well.
    (#"(?s)(<figure class="plot timeline">).*?(?=</figure>)"#, "$1…"),
    (#"(?s)(<h2 id="(attempts|timeline|work)-title">).*?(?=</section>)"#, "$1…"),
    (#"(<td data-label="(Seconds|Cores|Memory)">)[^<]*"#, "$1…"),
    (#"(<td data-value=")[0-9.]+">[0-9.]+ s(?=</td>)"#, #"$1N">DURATION"#),
    (
      #"(<dd data-total="(cpuSeconds|seconds)">)[0-9.]+(</dd><dd class="said">)[^<]*"#,
      "$1N$3DURATION"
    ),
    // Of artifacts with their records, which hold times.
    (#"(?m)^ *[0-9.]+ kB(?=  | in [0-9]+ files would)"#, "SIZE"),
    // The machine, the build, the user.
    (#"\([0-9.]+ [kMGT]?B free\)(, about [0-9].*)?"#, "(SIZE free)"),
    (#"("bytes" : )[0-9]+(,\s*"inodes")"#, "$1N$2"),
    (#"("(reserve|total)Bytes" : )[0-9]+"#, "$1N"),
    (#"("(memoryBytes" : N,\s*"name|host)" : )"[^"]*""#, #"$1"HOST""#),
    (#"( · <bdi>)[^<]*(</bdi> · scanmill [0-9.]+)( \([^)]*\))?"#, "$1HOST$2 (…)"),
    (#"(Built from commit</th><td data-label="Value"><bdi>)[^<]*"#, "$1…"),
    (#"(<td data-label="Program"><bdi>[0-9.]+)( \([^)]*\))?"#, "$1 (…)"),
    (#"("(cpu|os|commit|(lib|zimg)[a-z]*)" : )("[^"]*"|null)"#, #"$1"…""#),
    (#"(?<=[ >])((lib|zimg)[a-z]*) +[0-9]+\.[0-9.]+"#, "$1 VERSION"),
    (#"("at" : "TIME",\s*"by" : )"[^"]*""#, #"$1"USER""#),
    (#"("user" : )"[^"]*"(?=,\s*"workingDirectory")"#, #"$1"USER""#),
    (#"\bby [^ ,]+( at TIME|, CLOCK)"#, "by USER$1"),
  ]

  /// Every number that was measured, and what is said of the machine that measured.
  private static let figures: [(pattern: String, mark: String)] = [
    (#"(?<=[ :,])-?[0-9][-+.0-9e]*(?=[,\s])"#, "N"),
    (#"("(fileSystem|governor|processor|system)" : )"[^"]*""#, #"$1"…""#),
    (#"(?s)("warnings" : \[).*?\]"#, "$1…]"),
    (#"TIME,.*"#, "TIME,…"),
  ]

  /// - Parameter place: the folder of the test, whose path pages break after slashes.
  static func masked(_ text: String, place: String, _ extent: Extent) -> String {
    let broken = String(place.dropFirst()).replacing("/", with: "/<wbr>")
    let plain = text.replacing(place, with: "PLACE").replacing("/<wbr>" + broken, with: "PLACE")
    return (volatile + (extent == .figures ? figures : [])).reduce(digested(plain)) {
      $0.replacingOccurrences(of: $1.pattern, with: $1.mark, options: .regularExpression)
    }
  }

  /// With digests in the place of what nobody reads: pictures, styles and scripts inside of pages.
  private static func digested(_ text: String) -> String {
    text.replacing(/(;base64,)([A-Za-z0-9+\/=]+)/) { $0.1 + Digest(of: Array($0.2.utf8)).hex }
      .replacing(/(<style>|<script>)(.*?)(?=<\/)/.dotMatchesNewlines()) {
        $0.1 + Digest(of: Array($0.2.utf8)).hex
      }
  }
}
