// General draft: the settings as the form has them, and the update that they mean.
import type { Workspace, WorkspaceUpdate } from '../workspace-requests.ts';

export interface GeneralDraft {
  readonly name: string;
  readonly description: string;
  /** Empty for UTC. */
  readonly timezone: string;
  readonly lifecycleMessages: boolean;
  readonly interval: 'DAILY' | 'WEEKLY';
  /** Addresses, separated by commas. */
  readonly recipients: string;
}

export function generalDraftOf({ name, description, settings }: Workspace): GeneralDraft {
  return {
    name,
    description: description ?? '',
    timezone: settings.timezone ?? '',
    lifecycleMessages: settings.lifecycleMessages,
    interval: settings.lifecycleMessageInterval ?? 'DAILY',
    recipients: (settings.lifecycleMessageRecipients ?? []).join(', '),
  };
}

export function generalUpdateOf(draft: GeneralDraft): WorkspaceUpdate {
  const recipients = draft.recipients.split(/[\s,;]+/).filter(Boolean);
  const description = draft.description.trim();
  return {
    name: draft.name.trim(),
    description: description === '' ? null : description,
    settings: {
      timezone: draft.timezone === '' ? null : draft.timezone,
      lifecycleMessages: draft.lifecycleMessages,
      lifecycleMessageInterval: draft.lifecycleMessages ? draft.interval : null,
      lifecycleMessageRecipients: recipients.length === 0 ? null : recipients,
    },
  };
}
