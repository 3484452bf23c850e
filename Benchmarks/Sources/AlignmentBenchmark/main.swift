import Media
import Core
import Glibc
import Processing

/// CPU milliseconds of this process's thread so far.
func cpuMilliseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--pictures", arguments.count == 2 {
  // For encoders of other programs: the same aligned pictures.
  for (index, image) in try AlignedFrames.all().enumerated() {
    var writer = PNGWriter()
    let file = try writer.encode(image)
    guard let output = fopen(arguments[1] + "/aligned-\(index).png", "wb") else { exit(73) }
    guard fwrite(file, 1, file.count, output) == file.count, fclose(output) == 0 else { exit(73) }
  }
  exit(0)
}
let rounds = arguments.first.flatMap { Int($0) } ?? 40
let frames = (0..<BenchmarkScene.count).map { BenchmarkScene.frame(seed: UInt64($0)) }
var subjects: [any Subject] = []
for lens in [false, true] {
  for surface in AlignmentParameters.Surface.allCases {
    subjects.append(try AlignmentSubject(surface: surface, hasLenses: lens))
  }
}
subjects.append(try ColorSubject())
for compression in PNGCompression.allCases {
  subjects.append(try PNGSubject(compression: compression))
}

if arguments.count > 1 { subjects.removeAll { !$0.name.contains(arguments[1]) } }

// Every subject once per round: a slow moment of the machine hits all of them.
var times = Array(repeating: [Double](), count: subjects.count)
for round in 0..<(rounds + 2) {
  for index in subjects.indices {
    let frame = frames[round % frames.count]
    let start = cpuMilliseconds()
    try subjects[index].work(frame)
    let spent = cpuMilliseconds() - start
    if round >= 2 { times[index].append(spent) }
  }
}
func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(1, width - text.count))
}
func short(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
print(padded("what", 44) + padded("median ms", 12) + padded("best ms", 12) + "note")
for (index, subject) in subjects.enumerated() {
  let sorted = times[index].sorted()
  print(
    padded(subject.name, 44) + padded(short(sorted[sorted.count / 2]), 12)
      + padded(short(sorted[0]), 12) + subject.note)
}
