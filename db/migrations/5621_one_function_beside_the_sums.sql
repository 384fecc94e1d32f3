-- What is beside the sums of some recipients, by one function for whoever counts and whoever asks who paid.
drop function settlements_beside_sums(bytea[], timestamptz, boolean);
alter function settlements_beside_windows(bytea[], timestamptz[], boolean) rename to settlements_beside_sums;
