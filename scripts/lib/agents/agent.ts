/** The two agents a companion call can go to, as the protocol names them (section Agents). */
export type Agent = 'claude' | 'codex';
