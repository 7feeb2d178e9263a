"""SQLMesh keeps its own notes in a file, so that the server sees nothing but the model's statements."""

import os

from sqlmesh.core.config import Config, DuckDBConnectionConfig, GatewayConfig, ModelDefaultsConfig, PostgresConnectionConfig

config = Config(
    model_defaults=ModelDefaultsConfig(dialect="postgres", start="2020-01-01"),
    gateways={"bench": GatewayConfig(
        connection=PostgresConnectionConfig(
            host=os.environ["PGHOST"], port=int(os.environ["PGPORT"]), user="sqlmesh", password="",
            database=os.environ["PGDATABASE"], application_name="sqlmesh", concurrent_tasks=1),
        state_connection=DuckDBConnectionConfig(database="state.db"))},
    default_gateway="bench",
)
