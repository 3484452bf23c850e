import Captures
import SystemPackage
import Glibc

/// Recognizes every capture below a folder, and prints how many there are and the milliseconds of CPU time:
///
///     RecognitionBenchmark FOLDER FAMILIES
///
/// FAMILIES is how many families of the registry take part, in its order; 0 = all. `recognition.py` makes the folders
/// and compares.
func seconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

let words = CommandLine.arguments
guard words.count == 3, let count = Int(words[2]) else {
  print("usage: RecognitionBenchmark FOLDER FAMILIES")
  exit(64)
}
let readers = CaptureRegistry.builtIn.readers
let registry = CaptureRegistry(count == 0 ? readers : Array(readers.prefix(count)))
let start = seconds()
let finding = CaptureFinder(registry).find(FilePath(words[1]))
print(finding.captures.count, (seconds() - start) * 1000)
