import Captures
import Engine
import ToyFamily

// What a watcher of a test calls for each capture: a worker that knows the toy family alone. Anything else that
// it is asked for, as a watcher asks for pages, is nothing to do.
if CommandLine.arguments.dropFirst().first == "worker" {
  try Worker.run(CaptureRegistry([ToyPackReader.self]), ToyStages.registry) {}
}
