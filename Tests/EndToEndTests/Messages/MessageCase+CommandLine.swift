extension MessageCase {
  /// Wrong command lines: 64.
  static let commandLine: [MessageCase] = [
    MessageCase("", shows: "USAGE: scanmill <subcommand>", 64, "EXAMPLES:"),
    MessageCase(
      "rnu in/a -o out", shows: "error: no verb 'rnu', did you mean 'run'?…", 64,
      "verbs: run, watch, receive, inspect"),
    MessageCase(
      "run in/a -o out --jbos 3", shows: "error: Unknown option '--jbos'. Did you mean '--jobs'?",
      64, "See 'scanmill run --help'"),
    MessageCase(
      "run", shows: "error: Missing expected argument '<captures> ...'", 64,
      "Captures, or folders of captures."),
    MessageCase(
      "run in/a", shows: "error: Missing expected argument '--output <output>'", 64,
      "Where results go."),
    MessageCase(
      "run in/a --output", shows: "error: Missing value for '--output <output>'", 64,
      "Where results go."),
    MessageCase(
      "run in/a -o out --output other", shows: "error: --output is given 2 times (out, other)…",
      64, "name one folder"),
    MessageCase(
      "graph default scannet", shows: "error: Unexpected argument 'scannet'", 64,
      "See 'scanmill graph --help'"),
    MessageCase(
      "clean out --stage imu tables",
      shows:
        "error: Unexpected argument 'tables': tables is a stage; several are separated by commas…",
      64,
      "without blanks"),
    MessageCase(
      "run in/a -o out --strict=yes",
      shows: "error: The option '--strict' does not take any value…", 64,
      "See 'scanmill run --help'"),
    MessageCase(
      "run in/a -o out -j -1", shows: "error: --jobs is 0 (all cores) to 1024, not -1", 64,
      "--jobs is 0"),
    MessageCase(
      "run in/a -o out -j many", shows: "error: The value 'many' is invalid for '-j <jobs>'", 64,
      "Cores to keep busy"),
    MessageCase(
      "run in/a -o out --memory 8", shows: "error: --memory is a size with its unit…", 64,
      "such as 8GB"),
    MessageCase(
      "run in/a -o out --retries 999", shows: "error: --retries is 0 to 100, not 999", 64,
      "0 to 100"),
    MessageCase(
      "run in/a -o out --grace 5",
      shows: "error: --grace is a duration with its unit, such as 30s, not '5'", 64, "such as 30s"),
    MessageCase(
      "run in/a -o out --shortfall 2",
      shows:
        "error: --shortfall is a percentage with its sign, 0% to 100%, such as 2%, not '2'", 64,
      "such as 2%"),
    MessageCase(
      "run in/a -o out --since yesterday", shows: "error: --since is a date such as…", 64,
      "a duration back from now such as 24h"),
    MessageCase(
      "run in/a -o out --exclude [0-9", shows: "error: --exclude '[0-9': '[' without ']'…", 64,
      "write one such as '[0-9]*'"),
    MessageCase(
      "run in/a -o out --only imu --until color",
      shows: "error: no stage is left by --only imu and --until color together", 64,
      "See 'scanmill run --help'"),
    MessageCase(
      "run in/a -o out -R color --only imu",
      shows: "error: -R color is outside of what --only imu selects", 64,
      "See 'scanmill run --help'"),
    MessageCase(
      "clean done --stage imu --failed",
      shows:
        "error: --stage, --intermediate, --failed, --retired and --keep-runs exclude each other…",
      64, "give one of them"),
    MessageCase(
      "bench --tolerance 5",
      shows: "error: --tolerance is a percentage with its sign, such as 10%, not '5'", 64,
      "such as 10%"),
    MessageCase(
      "bench --json --csv", shows: "error: --json and --csv exclude each other…", 64,
      "give one of them"),
    MessageCase(
      "explain a color,imu -o out --json",
      shows: "error: --json explains one stage at a time, not color,imu", 64, "one stage"),
    MessageCase(
      "explain in/a aligned", shows: "error: to explain a stage, add --output with the folder…",
      64, "--output"),
    MessageCase(
      "watch in -o out --between 25:00-3", shows: "error: --between is two times of the day…", 64,
      "such as 20:00-06:00"),
    MessageCase(
      "report done --format pdf", shows: "error: The value 'pdf' is invalid for '--format…", 64,
      "one of 'html', 'json', 'csv' or 'geojson'"),
    MessageCase(
      "view in/a -o look.gif", shows: "error: --output names a file that ends in .png or .jpg…", 64,
      ".png or .jpg"),
    MessageCase(
      "receive in --listen 0.0.0.0:0",
      shows: "error: --listen 0.0.0.0:0: others in the network reach this address…", 64,
      "--allow-anonymous"),
    MessageCase(
      "receive in --listen here", shows: "error: --listen here: an address and a port…", 64,
      "127.0.0.1:8000"),
    MessageCase(
      "receive in --maximum-file 64", shows: "error: --maximum-file 64: a size with its unit…", 64,
      "64GiB"),
  ]

  /// Names that do not exist, each with the nearest that does.
  static let names: [MessageCase] = [
    MessageCase(
      "run in/a -o out --family scanet",
      shows: "error: no family 'scanet', did you mean 'scannet'?…", 64, "known: scannet"),
    MessageCase(
      "run in/a -o out --export colmp",
      shows: "error: no export 'colmp', did you mean 'colmap'?…", 64, "known: "),
    MessageCase(
      "run in/a -o out --only algned",
      shows: "error: the pipeline has no stage 'algned', did you mean 'aligned'?", 64, "aligned"),
    MessageCase(
      "run in/a -o out -R align-depth",
      shows:
        "error: the pipeline has no stage 'align-depth': align-depth is a kind; the stage is called aligned",
      64, "the stage is called aligned"),
    MessageCase(
      "list stages aligned",
      shows:
        "error: no kind of stage 'aligned': aligned is a stage; its kind is called align-depth: `scanmill list stages align-depth` describes it",
      64,
      "its kind is called align-depth"),
    MessageCase(
      "run in/a -o out --set aligned.grid",
      shows: "error: --set takes STAGE.PARAM=VALUE, not 'aligned.grid'", 64, "STAGE.PARAM=VALUE"),
    MessageCase(
      "run in/a -o out --set window=20ms",
      shows:
        "error: --set takes STAGE.PARAM=VALUE, not 'window=20ms', did you mean 'imu.window=20ms'?",
      64, "'imu.window=20ms'"),
    MessageCase(
      "run in/a -o out --set aligned.grd=color",
      shows: "error: stage 'aligned' has no parameter 'grd', did you mean 'grid'?; it has: …", 64,
      "surface, grid"),
    MessageCase(
      "run in/a -o out --set aligned.grid=colr",
      shows: "error: aligned.grid: 'colr' is not one of color…did you mean 'color'?", 64,
      "color/2, color/4, depth"),
    MessageCase(
      "run in/a -o out --set color.quality=200",
      shows: "error: color.quality: '200' is not a whole number, 1 to 100", 64, "1 to 100"),
    MessageCase(
      "run in/a -o out --set imu.window=50",
      shows: "error: imu.window: '50' is not a duration with its unit…", 64, "such as 50ms"),
    MessageCase(
      "error: imu.timeOffset=auto: 'imu' has no input that measures the time offset…", 64,
      "add a stage that uses measure-time-offset"
    ) {
      try $0.pipeline("  imu: {uses: match-imu}")
      return try $0.run("--pipeline p.yaml --set imu.timeOffset=auto")
    },
    MessageCase(
      "run in/a -o out --set depth.range=4m..0.3m",
      shows: "error: depth.range: '4m..0.3m' is not two lengths…", 64, "such as 0.3m..4m"),
    MessageCase(
      "run in/a -o out --set depth.range=300..4000",
      shows: "error: depth.range: '300..4000' is not two lengths with their units…", 64,
      "write 300mm..4000mm or 300m..4000m"),
    MessageCase(
      "run in/a -o out --set depth.maximumChange=10",
      shows: "error: depth.maximumChange: '10' is not a length with its unit…", 64,
      "write 10mm or 10m"),
    MessageCase(
      "run in/a -o out --set color.first=3 --set color.last=1",
      shows: "error: color.last=1: stage 'color' would write nothing: first 3 is after last 1", 64,
      "first 3 is after last 1"),
    MessageCase(
      "run in/a -o out --executor slrm",
      shows: "error: The value 'slrm' is invalid for '--executor…", 64,
      "one of 'local' and 'slurm'"),
    MessageCase(
      "status done --state dne", shows: "error: no state 'dne', did you mean 'done'?…", 64,
      "known: arriving"),
    MessageCase(
      "status done --quality pour", shows: "error: no verdict 'pour', did you mean 'poor'?…", 64,
      "known: good, usable, poor"),
    MessageCase(
      "explain aligned", shows: "error: no code or word 'aligned': aligned is a stage; its kind…",
      64,
      "`scanmill list stages align-depth`"),
    MessageCase(
      "explain frme-gap", shows: "error: no code or word 'frme-gap', did you mean 'frame-gap'?…",
      64,
      "explain CAPTURE STAGE --output DIR"),
    MessageCase(
      "synthesize scanet -o made",
      shows: "error: no family 'scanet', did you mean 'scannet'?; known…",
      64, "known: scannet"),
    MessageCase(
      "synthesize strabo --imu-offset 20ms -o made",
      shows: "error: strabo v1 has no motion sensors…", 64, "no motion sensors"),
    MessageCase(
      "list parameters align-depth",
      shows: "error: no pipeline or stage 'align-depth': align-depth is a kind of stage…", 78,
      "`scanmill list stages align-depth` lists its parameters"),
    MessageCase(
      "list parameters imuu", shows: "error: no stage or pipeline 'imuu', did you mean 'imu'?…", 64,
      "stages: "),
    MessageCase(
      "list parameters imu,clouds", shows: "error: no built-in pipeline has all of imu and clouds…",
      64,
      "as in `scanmill list parameters exports imu,clouds`"),
    MessageCase(
      "run in/a -o out --export colmap nerfstudio",
      shows: "error: nerfstudio is an export format, not a capture; with commas: …", 64,
      "--export colmap,nerfstudio"),
    MessageCase(
      "run in/a -o out --only depth color",
      shows: "error: color is a stage, not a capture; with commas: …", 64, "--only depth,color"),
    MessageCase(
      "run in/a -o out --pipeline defualt",
      shows: "error: no pipeline 'defualt': neither a pipeline file nor one of…", 78,
      "did you mean 'default'?"),
  ]
}
