// session-protocols: the ways in which this database can send a graph to a session (v3, v4 ...).
// Asked before a session is paid for. A database without the procedure has no remote projection.
//
// returns: versions LIST OF STRING
// needs: gds.session.dbms.protocol.version
// mode: read
CALL gds.session.dbms.protocol.version()
YIELD version
RETURN collect(version) AS versions
