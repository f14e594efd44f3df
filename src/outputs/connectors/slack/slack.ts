// Slack: a message to the incoming webhook of a channel (contract 9).
import { createChatTarget } from '../chat-target.ts';
import { connectorType } from '../connector-type.ts';
import { text } from '../properties.ts';

export const slack = connectorType({
  vendorName: 'SLACK',
  propertiesKey: 'slackProperties',
  properties: {
    message: text('Template of the message.'),
    webhookUrl: text('URL of the incoming webhook. Secret.'),
  },
  // The URL alone permits to write to the channel.
  secrets: ['webhookUrl'],
  parse: (sent) => ({ message: sent.needed('message'), webhookUrl: sent.needed('webhookUrl') }),
  check({ message, webhookUrl }, checks) {
    checks.url('webhookUrl', webhookUrl);
    checks.template('message', message, 'slack');
  },
  open: ({ message, webhookUrl: url }, services) =>
    createChatTarget({ url, message, notation: 'slack', body: (text) => ({ text }) }, services),
});
