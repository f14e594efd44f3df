// MQTT endings: by DISCONNECT, by a fault, by the platform, or because the connection broke.
import { errorMessage } from '../../model/problem.ts';
import type { BrokerState } from './mqtt-broker-state.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { MalformedPacket } from './mqtt-packet-reader.ts';
import { packetWriter, reasonCodes } from './mqtt-packet-writer.ts';
import type { MqttSession, RoutedDevice } from './mqtt-session.ts';

/** Why a client that is silent for too long is disconnected. */
export const keepAliveTimeout = 'keep alive timeout';
const closeWithinSeconds = mqttLimits.closeWithinMs / 1_000;

/** Ends the session: nothing more is read or sent. The transport is left to the caller. */
export function endSession<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
): void {
  const { parts, byKey, deliveries, flowControl, pace } = state;
  const wasOpen = session.state === 'open';
  session.state = 'closed';
  state.sessions.delete(session);
  if (!session.conn.closed) state.closing.add(session);
  session.framer.clear();
  flowControl.leave(session);
  pace.leave(session);
  if (session.isCounted) parts.connectionCount.give(session.owner, 1);
  session.isCounted = false;
  if (byKey.get(session.key) === session) byKey.delete(session.key);
  const kept = wasOpen ? session.kept(parts.now()) : undefined;
  if (kept !== undefined) parts.keptSessions.set(session.key, kept, session.owner);
  deliveries.removeAll(session);
  session.discardMessages();
  for (const key of session.unconfirmedKeys(parts.now())) parts.doubt(key);
  // Those that connect to a platform that stopped are born again.
  if (wasOpen && !state.isStopping) state.sparkplug.left(session);
  const { will } = session;
  session.will = undefined;
  const isPublished = wasOpen && !session.isDisconnected && session.endedBecause === undefined;
  if (will !== undefined && isPublished) void state.will.publish(session, will);
}

/** Ends the session and closes the connection after everything written has been sent. */
export function finish<R extends RoutedDevice>(state: BrokerState<R>, session: MqttSession): void {
  if (session.isClosed()) return;
  endSession(state, session);
  session.output.flush();
  closeSoon(state, session);
}

/** Closes the connection after everything written has been sent, or after a time. */
export function closeSoon<R extends RoutedDevice>(
  { deadlines }: BrokerState<R>,
  session: MqttSession,
): void {
  session.conn.end();
  // The end of the other side must be noticed, so what it still sends is read.
  session.conn.resume();
  deadlines.place(session, deadlines.now + closeWithinSeconds + 1);
}

/**
 * Ends the session without the client's consent; the connection is cut. A client of MQTT 5 is sent
 * the reason.
 */
export function cutOff<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  reasonCode: number,
): void {
  if (session.isClosed()) return;
  if (session.state === 'open' && session.level === 5 && !session.conn.destroyed) {
    session.output.write(packetWriter(session.level).disconnect(reasonCode));
    // Cut connections lose what was written last. A platform that stops does not wait.
    if (!state.isStopping) return finish(state, session);
  }
  endSession(state, session);
  session.output.flush();
  session.conn.destroy();
}

/** Cuts the connection because of a fault, which is counted. */
export function fail<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  reason: string,
): void {
  if (session.isClosed()) return;
  const { address } = session;
  if (session.identity === undefined) state.parts.refused('malformed', { reason, address });
  else state.parts.ended(reason, session.about());
  const isSilent = reason === keepAliveTimeout;
  cutOff(state, session, isSilent ? reasonCodes.keepAliveTimeout : reasonCodes.unspecified);
}

/** Cuts the connection because of its packet: any error ends only the connection that caused it. */
export function refusePacket<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  error: unknown,
): void {
  const { parts } = state;
  if (session.isClosed()) return;
  const reason = errorMessage(error);
  parts.refused(refusalOf(error), { reason, address: session.address });
  if (session.identity !== undefined) parts.ended(reason, session.about());
  cutOff(state, session, packetReasons[refusalOf(error)] ?? reasonCodes.unspecified);
}

const packetReasons: Readonly<Record<string, number>> = {
  malformed: reasonCodes.malformed,
  tooLarge: reasonCodes.packetTooLarge,
};

function refusalOf(error: unknown): string {
  if (!(error instanceof MalformedPacket)) return 'internal';
  return error.message === 'tooLarge' ? error.message : 'malformed';
}

/** Cuts the connection from the side of the platform, without publishing its will. */
export function endByPlatform<R extends RoutedDevice>(
  state: BrokerState<R>,
  session: MqttSession,
  because: string,
): void {
  if (session.isClosed()) return;
  session.endedBecause = because;
  state.parts.ended(because, session.about());
  cutOff(state, session, state.isStopping ? reasonCodes.stopping : reasonCodes.administrative);
}
