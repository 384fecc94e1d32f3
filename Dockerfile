# The image of every process but GraphQL, which has one of its own (--target graphql). The command says which process it
# is: node dist/<room>/main.js, see docker-compose.yml.

FROM node:24-bookworm-slim AS base
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/

# Optional packages serve the local world alone: binaries of Node, Postgres and a chain for machines without them.
FROM base AS all-packages
RUN npm ci --omit=optional --ignore-scripts

FROM all-packages AS build
COPY . .
# For /metrics: --build-arg COMMIT=$(git rev-parse HEAD)
ARG COMMIT=
RUN node scripts/build.mjs --without verify-proof

FROM all-packages AS packages
RUN npm prune --omit=dev --omit=optional --ignore-scripts --offline

# PostGraphile's dependencies are more than half of all packages, most of it the pages of GraphiQL.
FROM packages AS packages-without-graphql
RUN npm uninstall postgraphile --omit=dev --omit=optional --ignore-scripts --offline
# DuckDB is an optional package for each kind of machine: the export, the archive and its restore need the one of this.
RUN npm install --no-save --omit=dev --omit=optional --ignore-scripts \
  "@duckdb/node-bindings-linux-$(node -p process.arch)@$(node -p "require('@duckdb/node-api/package.json').version")"

FROM node:24-bookworm-slim AS process
WORKDIR /app
LABEL org.opencontainers.image.licenses="MIT AND GPL-3.0-or-later AND Apache-2.0 AND ISC AND BSD-3-Clause AND MPL-2.0 AND OFL-1.1"
# HOST: a published port has to be reachable. STOP_PAUSE_SECONDS: a load balancer takes a moment to notice the end.
ENV NODE_ENV=production HOST=0.0.0.0 STOP_PAUSE_SECONDS=5
COPY --from=build /app/package.json ./
COPY --from=build /app/dist dist
# A volume mounted here takes over this owner.
RUN install --directory --owner 1000 --group 1000 /var/lib/agent-directory/exports /var/lib/agent-directory/backup /var/lib/agent-directory/log
# The user `node`, as a number: with runAsNonRoot a kubelet cannot check a name.
USER 1000
# Alive, not ready: a restart does not bring a missing database back.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT || process.env.PORT || 3000}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

FROM process AS graphql
COPY --from=packages /app/node_modules node_modules
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT || process.env.GRAPHQL_PORT || 3001}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
EXPOSE 3001
CMD ["node", "dist/api/graphql/main.js"]

FROM process
COPY --from=packages-without-graphql /app/node_modules node_modules
EXPOSE 3000
CMD ["node", "dist/api/main.js"]
