/** What the fields of settings have in common. */
import type { SettingInfo } from '../../../channel/protocol.ts'

export interface ControlProps {
  setting: SettingInfo
  /** Whether the daemon took it. */
  save(value: string | readonly string[]): Promise<boolean>
  /** What was last tried was not taken. */
  wrong: boolean
  /** What was tried is given up. */
  forget(): void
}

/** What every field has: its name, what is said about it, whether it may be changed. */
export function fieldProps({ setting: { name, locked }, wrong }: Pick<ControlProps, 'setting' | 'wrong'>) {
  return {
    id: name,
    disabled: locked !== null,
    'aria-invalid': wrong,
    'aria-describedby': wrong ? `${name}-error` : `${name}-about`,
  } as const
}
