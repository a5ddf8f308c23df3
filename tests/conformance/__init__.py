"""Apache Flink's recorded answers, and the runner that asks the engine the same questions."""
