import './styles/tokens.css'
import './styles/viewer.css'
import { render } from 'preact'
import { AccessDenied, App } from './app.tsx'
import { connectToDaemon, openAccess, reloadOnNewLink } from './connection.ts'
import { trackDaemonStatus } from './daemon-status.ts'
import { listenForKeys } from './keyboard.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no element with the id "app"')

reloadOnNewLink()
const access = await openAccess().catch(() => ({ token: null, reason: 'The daemon does not answer.' }))
if (access.token === null) {
  render(<AccessDenied reason={access.reason} />, root)
} else {
  trackDaemonStatus()
  listenForKeys()
  connectToDaemon(access.token)
  render(<App />, root)
}
