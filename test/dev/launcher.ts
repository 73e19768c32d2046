/** A process that opens the development servers of a folder, says where they are, and lives until it is killed. */
import { openDevServers } from '../../src/dev/dev-servers.ts'

process.once('disconnect', () => process.exit())
try {
  const { temporal, postgres, joined } = await openDevServers({ home: process.argv[2] ?? '' })
  process.send?.({
    temporalPid: temporal.pid,
    postgresPid: postgres.pid,
    address: temporal.address,
    url: postgres.url,
    joined,
  })
} catch (error) {
  process.send?.({ error: String(error) })
}
