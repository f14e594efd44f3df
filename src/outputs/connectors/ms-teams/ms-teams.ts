// Microsoft Teams: a card to the incoming webhook of a channel (contract 9).
import { createChatTarget } from '../chat-target.ts';
import { connectorType } from '../connector-type.ts';
import { text } from '../properties.ts';

export const msTeams = connectorType({
  vendorName: 'MS_TEAMS',
  propertiesKey: 'msTeamsProperties',
  properties: {
    message: text('Template of the message.'),
    notificationUrl: text('URL of the incoming webhook. Secret.'),
  },
  // The URL alone permits to write to the channel.
  secrets: ['notificationUrl'],
  parse: (sent) => ({
    message: sent.needed('message'),
    notificationUrl: sent.needed('notificationUrl'),
  }),
  check({ message, notificationUrl }, checks) {
    checks.url('notificationUrl', notificationUrl);
    checks.template('message', message, 'markdown');
  },
  open: ({ message, notificationUrl: url }, services) =>
    createChatTarget({ url, message, notation: 'markdown', body: cardOf }, services),
});

/**
 * A card, which both kinds of incoming webhooks show, and the message for those that do not read
 * cards.
 */
function cardOf(text: string) {
  const content = {
    type: 'AdaptiveCard',
    version: '1.4',
    body: [{ type: 'TextBlock', text, wrap: true }],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', text, attachments: [{ contentType, content }] };
}
