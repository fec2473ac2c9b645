//! [`Flows`]: those that wait, in the order of their turns.
//!
//! A tree: below each root flows that wait, below a flow of a client its sessions' flows, and the requests at
//! the leaves. Flows that lie side by side take turns, one request each (round robin, Nagle: RFC 970), which is
//! the order of arrival as long as each has one. Whatever is done takes the same time however many wait.

use alloc::vec::Vec;

use hashbrown::HashMap;

/// Position of a flow, or of a request that waits in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Node(u32);

impl Node {
    /// None.
    pub(crate) const NONE: Self = Self(u32::MAX);
}

/// Whose requests take turns with those of others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow {
    /// The client, if all of it is one flow beside others.
    pub(crate) client: Option<u64>,
    /// Session or client.
    pub(crate) owner: u64,
}

/// A flow or a request, in the list below its parent.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Session or client of a flow, slot of a request.
    owner: u64,
    parent: Node,
    previous: Node,
    next: Node,
    /// Below it.
    head: Node,
    tail: Node,
    /// Requests below it.
    requests: u32,
    /// Of those below it, the one that had most requests when one was last added.
    longest: Node,
    /// When it came to the end of its list.
    turn: u64,
}

impl Entry {
    fn new(owner: u64, parent: Node) -> Self {
        let none = Node::NONE;
        Self {
            owner,
            parent,
            previous: none,
            next: none,
            head: none,
            tail: none,
            requests: 0,
            longest: none,
            turn: 0,
        }
    }
}

/// Those that wait.
#[derive(Debug)]
pub(crate) struct Flows {
    /// The roots, then flows and requests.
    entries: Vec<Entry>,
    free: Vec<Node>,
    /// Flows that wait, by parent and owner.
    index: HashMap<(Node, u64), Node>,
    turn: u64,
}

/// Most entries of one request: itself, the flow of its session and that of its client.
const ENTRIES: usize = 3;

impl Flows {
    /// For so many roots, and `room` requests.
    pub(crate) fn new(roots: usize, room: usize) -> Self {
        let mut entries = Vec::with_capacity(roots + ENTRIES * room);
        entries.resize(roots, Entry::new(0, Node::NONE));
        // Twice the room: the table then cleans up its tombstones in place.
        let index = HashMap::with_capacity(2 * (ENTRIES - 1) * room);
        Self { entries, free: Vec::with_capacity(ENTRIES * room), index, turn: 0 }
    }

    /// Room for so many requests without allocating again.
    pub(crate) fn make_room(&mut self, room: usize) {
        self.entries.reserve((ENTRIES * room).saturating_sub(self.entries.len()));
        self.free.reserve((ENTRIES * room).saturating_sub(self.free.len()));
        self.index.reserve((2 * (ENTRIES - 1) * room).saturating_sub(self.index.len()));
    }

    /// Puts a request at the end of its flow.
    pub(crate) fn add(&mut self, root: usize, flow: Flow, slot: u32) -> Node {
        let mut parent = Node(root as u32);
        for owner in flow.client.into_iter().chain([flow.owner]) {
            parent = self.flow(parent, owner);
        }
        let request = self.insert(u64::from(slot), parent);
        let mut below = request;
        while parent != Node::NONE {
            self.at(parent).requests += 1;
            let longest = self.get(parent).longest;
            if longest == Node::NONE || self.get(below).requests >= self.get(longest).requests {
                self.at(parent).longest = below;
            }
            (below, parent) = (parent, self.get(parent).parent);
        }
        request
    }

    /// Takes a request out. The next turn of its flow comes after those of all others.
    pub(crate) fn remove(&mut self, request: Node) {
        let mut node = self.get(request).parent;
        self.forget(request);
        while self.get(node).parent != Node::NONE {
            let Entry { parent, owner, requests, .. } = *self.get(node);
            self.at(node).requests = requests - 1;
            if requests > 1 {
                self.unlink(node);
                self.append(node);
            } else {
                self.index.remove(&(parent, owner));
                self.forget(node);
            }
            node = parent;
        }
        self.at(node).requests -= 1;
    }

    /// Whether none waits below a root.
    pub(crate) fn is_empty(&self, root: usize) -> bool {
        self.entries[root].head == Node::NONE
    }

    /// The slot of the request whose turn it is, and since when.
    pub(crate) fn first(&self, root: usize) -> Option<(u32, u64)> {
        let flow = self.entries[root].head;
        if flow == Node::NONE {
            return None;
        }
        let mut node = flow;
        while self.get(node).head != Node::NONE {
            node = self.get(node).head;
        }
        Some((self.get(node).owner as u32, self.get(flow).turn))
    }

    /// The slot of the newest request of the flow that holds most, and how many that are.
    pub(crate) fn longest(&self, root: usize) -> Option<(u32, u32)> {
        let flow = self.longest_below(Node(root as u32))?;
        let mut node = flow;
        while let Some(below) = self.longest_below(node) {
            node = below;
        }
        Some((self.get(node).owner as u32, self.get(flow).requests))
    }

    /// How many requests wait in the flow, with those of the same client where that is one.
    pub(crate) fn length(&self, root: usize, flow: Flow) -> u32 {
        let outermost = flow.client.unwrap_or(flow.owner);
        let found = self.index.get(&(Node(root as u32), outermost));
        found.map_or(0, |found| self.get(*found).requests)
    }

    /// Of the requests of a flow the newest; of flows the one that holds most, as far as is known: after that
    /// has left, of the next ones.
    fn longest_below(&self, node: Node) -> Option<Node> {
        const MAX_LOOKED_AT: usize = 16;
        let Entry { head, tail, longest, .. } = *self.get(node);
        if head == Node::NONE {
            None
        } else if self.get(head).requests == 0 {
            Some(tail)
        } else if longest != Node::NONE {
            Some(longest)
        } else {
            let next = |node: &Node| Some(self.get(*node).next).filter(|next| *next != Node::NONE);
            let looked_at = core::iter::successors(Some(head), next).take(MAX_LOOKED_AT);
            looked_at.max_by_key(|node| self.get(*node).requests)
        }
    }

    /// The flow of an owner below another; it begins to wait if it does not.
    fn flow(&mut self, parent: Node, owner: u64) -> Node {
        if let Some(found) = self.index.get(&(parent, owner)) {
            return *found;
        }
        let flow = self.insert(owner, parent);
        self.index.insert((parent, owner), flow);
        flow
    }

    fn insert(&mut self, owner: u64, parent: Node) -> Node {
        let entry = Entry::new(owner, parent);
        let node = match self.free.pop() {
            Some(node) => {
                *self.at(node) = entry;
                node
            }
            None => {
                self.entries.push(entry);
                Node((self.entries.len() - 1) as u32)
            }
        };
        self.append(node);
        node
    }

    fn forget(&mut self, node: Node) {
        self.unlink(node);
        let parent = self.get(node).parent;
        if self.get(parent).longest == node {
            self.at(parent).longest = Node::NONE;
        }
        self.free.push(node);
    }

    /// To the end of its parent's list.
    fn append(&mut self, node: Node) {
        self.turn += 1;
        let (turn, parent) = (self.turn, self.get(node).parent);
        let tail = self.get(parent).tail;
        match tail {
            Node::NONE => self.at(parent).head = node,
            tail => self.at(tail).next = node,
        }
        self.at(parent).tail = node;
        let entry = self.at(node);
        (entry.previous, entry.next, entry.turn) = (tail, Node::NONE, turn);
    }

    fn unlink(&mut self, node: Node) {
        let Entry { parent, previous, next, .. } = *self.get(node);
        match previous {
            Node::NONE => self.at(parent).head = next,
            previous => self.at(previous).next = next,
        }
        match next {
            Node::NONE => self.at(parent).tail = previous,
            next => self.at(next).previous = previous,
        }
    }

    fn get(&self, node: Node) -> &Entry {
        &self.entries[node.0 as usize]
    }

    fn at(&mut self, node: Node) -> &mut Entry {
        &mut self.entries[node.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn of(owner: u64) -> Flow {
        Flow { client: None, owner }
    }

    fn below(client: u64, owner: u64) -> Flow {
        Flow { client: Some(client), owner }
    }

    /// Serves all; gives the slots in the order of their turns.
    fn served(flows: &mut Flows, nodes: &[Node]) -> Vec<u32> {
        let mut order = Vec::new();
        while let Some((slot, _)) = flows.first(0) {
            order.push(slot);
            flows.remove(nodes[slot as usize]);
        }
        assert!(flows.index.is_empty() && flows.first(0).is_none());
        order
    }

    fn waiting(all: &[Flow]) -> (Flows, Vec<Node>) {
        let mut flows = Flows::new(2, 16);
        let nodes = (0..).zip(all).map(|(slot, flow)| flows.add(0, *flow, slot)).collect();
        (flows, nodes)
    }

    #[test]
    fn flows_take_turns_and_single_requests_go_as_they_came() {
        let (mut flows, nodes) = waiting(&[of(1), of(1), of(1), of(1), of(2), of(3), of(3)]);
        assert_eq!(served(&mut flows, &nodes), [0, 4, 5, 1, 6, 2, 3]);
        let (mut flows, nodes) = waiting(&[of(3), of(1), of(2)]);
        assert_eq!(served(&mut flows, &nodes), [0, 1, 2]);
    }

    #[test]
    fn a_client_with_many_sessions_is_one_beside_others() {
        let all = [below(1, 10), below(1, 11), below(1, 12), below(1, 10), below(2, 20), below(2, 20)];
        let (mut flows, nodes) = waiting(&all);
        assert_eq!(served(&mut flows, &nodes), [0, 4, 1, 5, 2, 3]);
    }

    #[test]
    fn a_flow_that_was_served_has_its_next_turn_after_those_that_wait() {
        let (mut flows, nodes) = waiting(&[of(1), of(2)]);
        flows.remove(nodes[0]);
        let again = flows.add(0, of(1), 2);
        assert_eq!(flows.first(0).map(|(slot, _)| slot), Some(1));
        flows.remove(nodes[1]);
        flows.remove(again);
        assert_eq!(flows.first(0), None);
    }

    #[test]
    fn the_newest_of_who_holds_most_is_found() {
        let all = [of(1), of(1), of(1), of(2), below(9, 1), below(9, 2), below(9, 3), below(9, 2)];
        let (mut flows, nodes) = waiting(&all);
        assert_eq!((flows.longest(0), flows.longest(1)), (Some((7, 4)), None));
        assert_eq!(flows.length(0, below(9, 77)), 4);
        for slot in [4, 5, 6, 7] {
            flows.remove(nodes[slot]);
        }
        assert_eq!(flows.longest(0), Some((2, 3)), "the next that is looked at");
        assert_eq!(vec![flows.length(0, of(1)), flows.length(0, of(9))], [3, 0]);
    }
}
