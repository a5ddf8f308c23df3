from penstock import Duration, StreamExecutionEnvironment, Time, Types, WatermarkStrategy
from penstock import functions as F
from penstock.datastream import TumblingEventTimeWindows

# Page, event time in ms, price in cents: in the order they arrive, not in which they happened.
clicks = [("home", 1_000, 5), ("home", 12_000, 20), ("home", 9_000, 7), ("cart", 18_000, 30)]
click = Types.ROW_NAMED(["page", "ts", "cents"], [Types.STRING(), Types.LONG(), Types.LONG()])
at_most_5_s_late = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))

env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
(
    env.from_collection(clicks, click)
    .assign_timestamps_and_watermarks(at_most_5_s_late.with_timestamp_column("ts"))
    .key_by("page")
    .window(TumblingEventTimeWindows.of(Time.seconds(10)))
    .aggregate(F.count().alias("clicks"), F.sum("cents").alias("cents"))
    .map(lambda w: f"{w.window_start:%H:%M:%S}  {w.page}  clicks={w.clicks}  cents={w.cents}")
    .print()
)
env.execute("First program")
