# The worker. The agent module is mounted at /app/agent/agent.js; it may import 'stello-temporal'.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN mkdir agent && ln -s /app/dist/cli/main.js /usr/local/bin/stello
USER node
# Asks the worker itself, at the port of its metrics. One that stopped is restarted by its container.
HEALTHCHECK --interval=30s --timeout=20s --start-period=30s CMD ["stello", "health", "--port", "9464"]
CMD ["stello", "worker", "/app/agent/agent.js", "--metrics-port", "9464"]
