"""Uses tables of a server with lance-ray, for pythonClients.test.ts (see steps.py)."""

from importlib.metadata import version

import lance_ray
import pyarrow as pa
import ray

from steps import properties, run

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
ray.data.DataContext.get_current().enable_progress_bars = False


def rows(ids, names):
    return ray.data.from_arrow(pa.table({"id": pa.array(ids, pa.int64()), "s": names}))


def doubled(batch):
    return pa.record_batch([pa.array([2 * id.as_py() for id in batch["id"]], pa.int64())], ["double"])


def steps_in(step):
    table = {"namespace_impl": "rest", "namespace_properties": properties, "table_id": step.table_id}

    def read(**more):
        return sorted(lance_ray.read_lance(**table, **more).take_all(), key=lambda row: row["id"])

    def names(**more):
        return [row["s"] for row in read(**more)]

    @step
    def versions_of_packages():
        return [version(name) for name in ("ray", "lance-ray")]

    @step
    def write_lance():
        lance_ray.write_lance(rows([1, 2, 3], step.named("a", "b", "c")), mode="create", **table)
        return names()

    @step
    def append():
        lance_ray.write_lance(rows([4], step.named("d")), mode="append", **table)
        return names()

    @step
    def filter_rows():
        return names(filter="id > 2")

    @step
    def columns():
        return [list(row) for row in read(columns=["id"])][0]

    @step
    def count():
        return lance_ray.read_lance(**table).count()

    @step
    def add_columns():
        lance_ray.add_columns(transform=doubled, read_columns=["id"], **table)
        return [row["double"] for row in read()]

    @step
    def scalar_index():
        lance_ray.create_scalar_index(column="id", index_type="BTREE", num_workers=1, **table)
        return names(filter="id = 4")

    @step
    def compaction():
        lance_ray.compact_files(num_workers=1, **table)
        return lance_ray.read_lance(**table).count()

    @step
    def overwrite():
        lance_ray.write_lance(rows([7, 8], step.named("g", "h")), mode="overwrite", **table)
        return names()


run(steps_in)
ray.shutdown()
