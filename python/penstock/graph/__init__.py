"""From transformations to a job graph. Describes, checks and plans; executes nothing."""
